# ZooKeeper for the demo: a server of its own on loopback, whose data are in the work folder. Read by demo.sh.
# What such a file has is said in traffic.sh.

registry_title="ZooKeeper"

registry_prepare() {
  local jars=/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar
  command -v java >/dev/null || die "ZooKeeper needs java: apt-get install default-jre-headless"
  [ -e "${jars%%:*}" ] || die "${jars%%:*} is missing: apt-get install libzookeeper-java"
  free_port
  registry_port=$port
  # Sessions last 2 to 20 ticks. Its data need not survive a power cut, so nothing waits for the disk.
  cat >zoo.cfg <<END
tickTime=500
dataDir=$work/zookeeper
clientPortAddress=127.0.0.1
clientPort=$registry_port
admin.enableServer=false
4lw.commands.whitelist=srvr
END
  cat >zookeeper.args <<END
-Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Dzookeeper.forceSync=no
-cp $jars org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg
END
  registry_component="{ use: zookeeper, servers: \"127.0.0.1:$registry_port\", session_timeout: 2s }"
  registry_command=(java @zookeeper.args)
}

registry_answers() {
  timeout 2 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && printf srvr >&3 && grep -q ^Mode: <&3' "$registry_port" \
    2>/dev/null
}
