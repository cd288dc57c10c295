.PHONY: build test lint demo oracle fuzz
build:  ; CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o bin/goserini ./cmd/goserini
test:   ; go test ./...
lint:   ; golangci-lint run ./...
demo:   ; go run ./cmd/goserini demo
oracle: ; GOSERINI_LUCENE=live go test -count=1 -timeout 60m ./bench/oracle
fuzz:   ; for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep ^Fuzz); do go test -run xxx -fuzz "^$$f$$" -fuzztime 30s -fuzzminimizetime 5x $$p || exit 1; done; done
