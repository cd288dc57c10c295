package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxJSON bounds an answer of an API, in bytes.
const maxJSON = 64 << 20

// JSON fetches a JSON document into v and returns the answer's header.
func (c *Client) JSON(ctx context.Context, url string, header http.Header, v any) (http.Header, error) {
	var got http.Header
	err := c.retry(ctx, url, func(ctx context.Context) (bool, error) {
		resp, err := c.get(ctx, url, header)
		if err != nil {
			return false, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return false, statusError(url, resp)
		}
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxJSON+1))
		if err != nil {
			return false, fmt.Errorf("fetch %s: %w", url, err)
		}
		if len(b) > maxJSON {
			return false, permanent{fmt.Errorf("fetch %s: the answer has more than %d bytes", url, maxJSON)}
		}
		if err := json.Unmarshal(b, v); err != nil {
			return false, permanent{fmt.Errorf("fetch %s: the answer is not the JSON expected: %w", url, err)}
		}
		got = resp.Header
		return false, nil
	})
	return got, err
}
