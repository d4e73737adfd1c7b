// What makes an exchange of `mix` known by every part of it: an id, and bodies that carry it and their offsets throughout.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// An id is 22 characters long; a body is blocks of `<id>:<number>;`, cut off at its length.
const idBytes, blockBytes = 22, idBytes + 10

var anyID = regexp.MustCompile(`x\d{9}-\d{3}-\d{7}`)

func idOf(seed, worker, number int) string {
	return fmt.Sprintf("x%09d-%03d-%07d", seed%1_000_000_000, worker, number)
}

func bodyOf(id string, size int) []byte {
	body := make([]byte, 0, size+blockBytes)
	for i := 0; len(body) < size; i++ {
		body = fmt.Appendf(body, "%s:%08x;", id, i)
	}
	return body[:size]
}

// proof takes a body in pieces and finds the first byte that is not the id's at its place.
type proof struct {
	id    string
	at    int
	wrong string
}

func (p *proof) Write(piece []byte) (int, error) {
	if len(piece) == 0 || p.wrong != "" {
		p.at += len(piece)
		return len(piece), nil
	}
	first := p.at / blockBytes
	want := make([]byte, 0, len(piece)+2*blockBytes)
	for i := first; len(want) < p.at-first*blockBytes+len(piece); i++ {
		want = fmt.Appendf(want, "%s:%08x;", p.id, i)
	}
	want = want[p.at-first*blockBytes:]
	if !bytes.Equal(want[:len(piece)], piece) {
		i := 0
		for piece[i] == want[i] {
			i++
		}
		p.wrong = fmt.Sprintf("at %d is %q, not %q", p.at+i, piece[i:min(i+60, len(piece))], want[i:min(i+60, len(piece))])
	}
	p.at += len(piece)
	return len(piece), nil
}

// foreignIn gives what in the fields is of an id that is not this one.
func foreignIn(fields http.Header, id string) string {
	for name, values := range fields {
		for _, value := range values {
			for _, found := range anyID.FindAllString(value, -1) {
				if found != id {
					return name + ": " + value
				}
			}
		}
	}
	return ""
}

// only gives the one value of a field, or what is wrong in parentheses.
func only(fields http.Header, name string) string {
	if values := fields.Values(name); len(values) != 1 {
		return fmt.Sprintf("(%d: %s)", len(values), strings.Join(values, " | "))
	}
	return fields.Get(name)
}

// slowly reads with pauses, ends with an error after `breakAt` bytes when that is positive.
type slowly struct {
	from    io.Reader
	piece   int
	pause   time.Duration
	breakAt int
	onBreak func()
	done    int
}

func (s *slowly) Read(into []byte) (int, error) {
	if s.breakAt > 0 && s.done >= s.breakAt {
		s.onBreak()
		return 0, io.ErrUnexpectedEOF
	}
	if s.piece > 0 && len(into) > s.piece {
		into = into[:s.piece]
	}
	if s.pause > 0 {
		time.Sleep(s.pause)
	}
	n, err := s.from.Read(into)
	s.done += n
	return n, err
}

// isProcessed says whether a processor is shown exchanges of the kind.
func isProcessed(kind string) bool {
	return kind == "buffered" || kind == "partial" || kind == "streamed" || kind == "processed" || kind == "envoy"
}

var printing sync.Mutex

// tell prints a failure, which is what both ends of `mix` are for.
func tell(who, id, about, format string, args ...any) {
	printing.Lock()
	defer printing.Unlock()
	fmt.Fprintf(os.Stdout, "FAIL %s %s [%s] %s\n", who, id, about, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\\n"))
}

var signing = ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))

func keySet() []byte {
	public := base64.RawURLEncoding.EncodeToString(signing.Public().(ed25519.PublicKey))
	set, _ := json.Marshal(map[string]any{"keys": []any{map[string]string{"kty": "OKP", "crv": "Ed25519", "x": public}}})
	return set
}

func tokenOf(id string) string {
	part := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iss":"mix","sub":"%s","exp":%d}`, id, time.Now().Unix()+3600)
	text := part([]byte(`{"alg":"EdDSA"}`)) + "." + part([]byte(claims))
	return text + "." + part(ed25519.Sign(signing, []byte(text)))
}
