package openaichat_test

import (
	"bytes"
	"encoding/json"
)

// sameJSON compares JSON apart from blanks, and anything else byte for byte.
func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, []byte(a)) != nil || json.Compact(&y, []byte(b)) != nil {
		return a == b
	}
	return x.String() == y.String()
}
