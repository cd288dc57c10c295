#!/usr/bin/env bash
# Real Lucene as an oracle. See README.md beside this file.
#
#   run.sh [-l 9|10] VERB ARGUMENTS   run a verb of the driver (run.sh without arguments lists them)
#   run.sh goldens [COLLECTION ...]   rewrite the ranking goldens from both generations, which must agree
#   run.sh setup                      fetch the jars and compile, nothing else
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$here/build
goldens=$root/internal/index/testdata/lucene
data=${GOSERINI_SHARED:-$root/../shared}/data

# Newest releases of both generations, and the oldest Java each runs on.
lucene9=9.12.3 java9=17
lucene10=10.6.0 java10=21

settings=(0.9,0.4 1.2,0.75 16,1 25,1 0,0)
depth=1000

scratch=$(mktemp -d "${TMPDIR:-/tmp}/oracle.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch

fail() { echo "run.sh: $*" >&2; exit 1; }

# java_home VERSION prints the home of the oldest installed JDK of at least that version.
java_home() {
	local home best='' best_version=999 version
	for home in ${JAVA_HOME:-} /usr/lib/jvm/*/ /opt/*/; do
		[[ -x $home/bin/javac ]] || continue
		version=$("$home/bin/javac" -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')
		if ((version >= $1 && version < best_version)); then
			best=${home%/} best_version=$version
		fi
	done
	[[ -n $best ]] || fail "no JDK of version $1 or newer under JAVA_HOME, /usr/lib/jvm or /opt"
	echo "$best"
}

# setup GENERATION fetches that generation's jars and compiles the driver against them.
setup() {
	local lucene=lucene$1 java=java$1 jars=$build/$1/jars classes=$build/$1/classes artifact
	lucene=${!lucene} java=$(java_home "${!java}")
	for artifact in lucene-core lucene-analysis-common; do
		[[ -f $jars/$artifact-$lucene.jar ]] && continue
		mvn -q -B -Djava.io.tmpdir="$scratch" dependency:copy \
			-Dartifact="org.apache.lucene:$artifact:$lucene" -DoutputDirectory="$jars" >&2
	done
	if [[ ! -d $classes || -n $(find "$here/java" "$jars" -newer "$classes") ]]; then
		mkdir -p "$classes"
		"$java/bin/javac" -Xlint:all -d "$classes" -cp "$jars/*" "$here"/java/oracle/*.java
		touch "$classes"
	fi
}

# oracle GENERATION VERB ARGUMENTS runs the driver.
oracle() {
	local generation=$1 java=java$1
	shift
	"$(java_home "${!java}")/bin/java" -Xmx2g -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED -Djava.io.tmpdir="$scratch" \
		-Djava.util.logging.config.file="$here/java/logging.properties" \
		-cp "$build/$generation/classes:$build/$generation/jars/*" oracle.Main "$@"
}

# golden COLLECTION writes the golden of one collection if both generations agree.
golden() {
	local collection=$1 generation
	[[ -f $data/$collection/corpus.jsonl.gz ]] || fail "no corpus at $data/$collection"
	for generation in 9 10; do
		oracle "$generation" index "$data/$collection/corpus.jsonl.gz" "$scratch/index-$generation"
		oracle "$generation" summary "$scratch/index-$generation" "$data/$collection/queries.tsv" \
			"$depth" "${settings[@]}" >"$scratch/summary-$generation"
		rm -rf "$scratch/index-$generation"
	done
	cmp "$scratch/summary-9" "$scratch/summary-10" || fail "$collection: Lucene $lucene9 and $lucene10 disagree"
	mkdir -p "$goldens"
	gzip -9n <"$scratch/summary-10" >"$goldens/$collection.tsv.gz"
	echo "$collection: $(wc -l <"$scratch/summary-10") lines, $lucene9 and $lucene10 agree" >&2
}

generation=10
if [[ ${1:-} == -l ]]; then
	generation=$2
	shift 2
fi
case ${1:-} in
setup)
	setup 9
	setup 10
	;;
goldens)
	shift
	setup 9
	setup 10
	if (($# == 0)); then
		for corpus in "$data"/*/corpus.jsonl.gz; do
			set -- "$@" "$(basename "$(dirname "$corpus")")"
		done
	fi
	for collection in "$@"; do
		golden "$collection"
	done
	;;
*)
	setup "$generation"
	oracle "$generation" "$@"
	;;
esac
