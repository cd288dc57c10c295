package wire

import (
	"bytes"
	"strconv"
)

// Count is a number of tokens as servers write it: an integer, but also a float, a string or
// null. Anything that is no count is 0, since a bill must not fail an answer.
type Count int64

// maxCount bounds a hostile number so that sums of usage cannot overflow.
const maxCount = 1 << 40

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	*c = 0
	f, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err == nil && f > 0 {
		*c = Count(min(f, maxCount))
	}
	return nil
}
