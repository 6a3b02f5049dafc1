// The owner of the headers that tests share precompiled (tests/CMakeLists.txt).
int main() {}
