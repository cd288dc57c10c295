package retrieval

// Anchor returns the byte offset in contents of the place that [EarliestExcerpt] shows,
// or -1 where no word of the query occurs. Whoever can read a document in parts needs to
// read no further.
func Anchor(query, contents string) int { return earliest(contents, clueWords(query)) }
