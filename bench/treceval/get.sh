#!/bin/sh
# Gets trec_eval 9.0.4 for Linux on amd64 out of jtreceval, a package of Maven Central.
#   ./get.sh /tmp/trec_eval
set -eu
target=${1:?usage: get.sh FILE}
mvn -q dependency:get -Dartifact=uk.ac.gla.dcs.terrierteam:jtreceval:0.0.5 -Dtransitive=false
repository=${MAVEN_REPOSITORY:-$HOME/.m2/repository}
unzip -p "$repository/uk/ac/gla/dcs/terrierteam/jtreceval/0.0.5/jtreceval-0.0.5.jar" trec_eval-linux-amd64 > "$target"
chmod +x "$target"
"$target" --version
