#!/bin/sh
# Ranks every collection with goserini and compares what `goserini eval` and trec_eval print for the runs.
# Uncompressed queries and four-column qrels go to both.
#   GOSERINI=/tmp/goserini GOSERINI_TREC_EVAL=/tmp/trec_eval ./collections.sh DATA_FOLDER [COLLECTION...]
set -eu
data=${1:?usage: collections.sh DATA_FOLDER [COLLECTION...]}
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
measures='num_q num_ret num_rel num_rel_ret map Rprec recip_rank P.5,10,30,100 recall.5,100,1000 ndcg ndcg_cut.10,100,1000 map_cut.10,100 success.1,5,10'
set -- ${*:-$(cd "$data" && ls -d */ | tr -d /)}
same=0 differ=0
for name; do
	[ -f "$data/$name/corpus.jsonl.gz" ] && [ -f "$data/$name/queries.tsv" ] || continue
	"$GOSERINI" index "$data/$name/corpus.jsonl.gz" --index "$work/$name.index" 2>/dev/null >&2
	"$GOSERINI" search --index "$work/$name.index" --topics "$data/$name/queries.tsv" --output "$work/$name.run" 2>/dev/null >&2
	args=''
	for m in $measures; do args="$args -m $m"; done
	for flags in '' '-c' '-q' '-c -l 2' '-M 10'; do
		"$GOSERINI_TREC_EVAL" $flags $args "$data/$name/qrels.txt" "$work/$name.run" > "$work/theirs"
		"$GOSERINI" eval --format trec_eval $flags $args --qrels "$data/$name/qrels.txt" "$work/$name.run" > "$work/ours" 2>/dev/null
		if cmp -s "$work/theirs" "$work/ours"; then
			same=$((same + 1))
		else
			differ=$((differ + 1))
			echo "$name $flags:"
			diff "$work/theirs" "$work/ours" | head -20
		fi
	done
	rm -rf "$work/$name.index"
done
echo "$same outputs equal, $differ differ"
[ "$differ" = 0 ]
