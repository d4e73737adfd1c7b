// The client of `mix`: exchanges of every kind, many at a time, each of which has an id and believes only what is of it.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// place is a listener as a client sees it.
type place struct {
	name, base string
	transport  *http.Transport
}

func placeOf(name, base string, http2 bool) *place {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	protocols.SetUnencryptedHTTP2(http2)
	return &place{name, base, &http.Transport{
		Protocols:             protocols,
		TLSClientConfig:       &tls.Config{InsecureSkipVerify: true},
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   8,
		DisableCompression:    true,
	}}
}

// mixer draws exchanges until its time is over.
type mixer struct {
	seed    int
	rough   bool
	places  []*place
	address string
	// The listener of both versions in cleartext, and who speaks HTTP/2 there.
	both    string
	streams *http2.Transport
	lock    sync.Mutex
	counts  map[string]int
}

func (m *mixer) count(what string) {
	m.lock.Lock()
	m.counts[what]++
	m.lock.Unlock()
}

// mix runs for so many seconds against a listener of HTTP/1.1, one of both in cleartext, and one of both under TLS. `rough`
// allows upstreams to break off what others wait for; without it every exchange has to go as it should.
func mix(seed, seconds int, rough bool, clear, both, secure string) {
	m := &mixer{seed: seed, rough: rough, counts: map[string]int{}, address: strings.TrimPrefix(clear, "http://"), both: both, streams: streamTransport()}
	m.places = []*place{
		placeOf("h1", clear, false), placeOf("h1", both, false), placeOf("h2", both, true), placeOf("h2", both, true),
		placeOf("tls1", secure, false), placeOf("tls2", secure, true),
	}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var group sync.WaitGroup
	for worker := 0; worker < 24; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewSource(int64(seed*1000 + worker)))
			for number := 0; time.Now().Before(end); number++ {
				id := idOf(seed, worker, number*10)
				switch draw := random.Intn(20); {
				case draw < 3:
					m.pipeline(random, worker, number*10)
				case draw < 4:
					m.tunnel(random, id)
				case draw < 5:
					m.torn(random, id)
				case draw < 6:
					m.tunnelOnStream(random, id)
				default:
					m.exchange(random, id)
				}
			}
		}()
	}
	group.Wait()
	must(json.NewEncoder(os.Stdout).Encode(m.counts))
}

func oneOf[T any](random *rand.Rand, from ...T) T { return from[random.Intn(len(from))] }

// plan is what one exchange will be.
type plan struct {
	id, kind, mode, method          string
	up, sent, size                  int
	place                           *place
	chunked, trailers, isSlow, deny bool
	abort, rough                    string
}

func (p *plan) String() string {
	name := "raw"
	if p.place != nil {
		name = p.place.name
	}
	return fmt.Sprintf("%s to %d %s %s %s sent %d size %d chunked %v trailers %v slow %v abort %s", name, p.up, p.kind, p.method, p.mode, p.sent, p.size, p.chunked, p.trailers, p.isSlow, p.abort)
}

func (p *plan) fail(format string, args ...any) { tell("client", p.id, p.String(), format, args...) }

func (p *plan) target() string {
	return fmt.Sprintf("/%d/%s/%s?m=%s&size=%d&i=%s%s", p.up, p.kind, p.id, p.mode, p.size, p.id, p.rough)
}

// fields are in the order in which they are sent raw.
func (p *plan) fields() [][2]string {
	fields := [][2]string{{"X-Id", p.id}, {"X-Want", strconv.Itoa(p.sent)}, {"Cookie", "id=" + p.id}}
	if p.kind == "fields" {
		fields = append(fields, [2]string{"Authorization", "Bearer " + tokenOf(p.id)}, [2]string{"Origin", "http://" + p.id})
	}
	if p.kind == "cel" {
		fields = append(fields, [2]string{"X-First", string(bodyOf(p.id, min(p.sent, 100)))})
	}
	if p.deny {
		fields = append(fields, [2]string{"X-Deny", "1"})
	}
	if p.trailers {
		fields = append(fields, [2]string{"X-Trailer-Sent", p.id})
	}
	return append(fields, [2]string{"X-Id-Again", p.id})
}

var mixKinds = []string{"plain", "plain", "plain", "wait", "wait", "retry", "mirror", "budget", "cel", "fields", "fields", "authz", "authzbody", "buffered", "partial", "streamed", "limited", "authzgrpc", "processed", "envoy"}

func (m *mixer) plan(random *rand.Rand, id string) *plan {
	p := &plan{id: id, kind: oneOf(random, mixKinds...), method: "POST", up: 1 + random.Intn(4)}
	p.sent = oneOf(random, 0, 0, 1, 10, 100, 3000, 20_000, 70_000, 300_000)
	p.size = oneOf(random, 0, 1, 100, 3000, 20_000, 70_000, 300_000) + random.Intn(40)
	p.place = oneOf(random, m.places...)
	p.mode = oneOf(random, "plain", "plain", "length", "flush", "trailers", "hints", "204", "304", "echo", "slow", "early", "head")
	if m.rough {
		p.rough = "&rough=1"
	}
	if m.rough && random.Intn(8) == 0 {
		p.mode = oneOf(random, "killhead", "killbody", "surplus", "closed")
	}
	p.isSlow = random.Intn(8) == 0
	p.chunked = random.Intn(3) == 0
	p.abort = oneOf(random, "", "", "", "", "", "", "", "", "request", "response", "timed")
	if only := os.Getenv("MIX_KINDS"); only != "" {
		p.kind = oneOf(random, strings.Split(only, ",")...)
	}
	if only := os.Getenv("MIX_MODES"); only != "" {
		p.mode = oneOf(random, strings.Split(only, ",")...)
	}
	switch p.kind {
	case "retry":
		p.mode, p.abort = oneOf(random, "again", "again", "plain", "length"), ""
	case "budget":
		p.mode = oneOf(random, "late", "latebody", "plain", "flush")
	case "authz":
		p.deny = random.Intn(3) == 0
	}
	if p.mode == "surplus" {
		p.size %= 2000
	}
	if p.mode == "echo" && isProcessed(p.kind) {
		p.mode = "plain"
	}
	if p.mode == "head" {
		p.method, p.mode, p.sent, p.chunked = "HEAD", "plain", 0, false
	} else if p.sent == 0 && random.Intn(2) == 0 {
		p.method, p.chunked = "GET", false
	}
	p.trailers = p.chunked && p.sent > 0 && random.Intn(2) == 0
	return p
}

// tolerates a lost exchange, when the upstream cuts connections that others use.
func (m *mixer) tolerates(p *plan) bool {
	return m.rough || p.abort != "" || p.kind == "budget" || p.mode == "early"
}

func (m *mixer) exchange(random *rand.Rand, id string) {
	p := m.plan(random, id)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	isHung := func() bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }
	if p.abort == "timed" {
		timer := time.AfterFunc(time.Duration(random.Intn(30_000))*time.Microsecond, cancel)
		defer timer.Stop()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		if foreign := foreignIn(http.Header(header), id); foreign != "" || code == 103 && header.Get("Link") != "</"+id+">" {
			p.fail("%d %v", code, header)
		}
		return nil
	}})
	var body io.Reader
	if p.sent > 0 || p.method == "POST" && p.chunked {
		body = bytes.NewReader(bodyOf(id, p.sent))
		if p.chunked || p.isSlow || p.abort == "request" {
			slow := &slowly{from: body}
			if p.isSlow {
				slow.piece, slow.pause = 1+p.sent/20, time.Millisecond
			}
			if p.abort == "request" {
				slow.breakAt, slow.onBreak = 1+random.Intn(p.sent+1), func() {}
			}
			body = slow
		}
	}
	request, err := http.NewRequestWithContext(ctx, p.method, p.place.base+p.target(), body)
	must(err)
	if body != nil && !p.chunked {
		request.ContentLength = int64(p.sent)
	}
	for _, field := range p.fields() {
		request.Header.Set(field[0], field[1])
	}
	if p.trailers {
		request.Trailer = http.Header{"X-T": {id}}
	}
	// Who answers at once has no use for the body, as clients see it.
	if p.sent > 0 && p.mode != "echo" && random.Intn(8) == 0 {
		request.Header.Set("Expect", "100-continue")
	}
	// What is answered before a long body of unknown length ends may close the connection unannounced.
	isUnread := (p.deny || p.mode == "early") && p.chunked && p.sent > 50_000
	// Over HTTP/2 the library would take the connection from other requests.
	if p.place.transport.Protocols.HTTP1() && (random.Intn(30) == 0 || isUnread) {
		request.Close = true
	}
	response, err := p.place.transport.RoundTrip(request)
	if err == nil {
		defer response.Body.Close()
		if p.abort == "response" {
			io.CopyN(io.Discard, response.Body, int64(random.Intn(p.size+1)))
			p.look(response)
			m.count("aborted")
			return
		}
		err = m.check(p, response)
	}
	switch {
	case err == nil:
	case isHung():
		p.fail("hangs: %v", err)
	case p.abort != "":
		m.count("aborted")
	case !m.tolerates(p):
		p.fail("%v", err)
	default:
		m.count("broken off")
	}
}

// look verifies a head.
func (p *plan) look(response *http.Response) bool {
	h := response.Header
	if foreign := foreignIn(h, p.id); foreign != "" {
		p.fail("foreign field %s", foreign)
		return false
	}
	if p.kind == "fields" {
		if back := only(h, "X-Back"); back != p.id {
			p.fail("%d has back %s", response.StatusCode, back)
		}
		if allowed := only(h, "Access-Control-Allow-Origin"); allowed != "http://"+p.id {
			p.fail("%d allows %s", response.StatusCode, allowed)
		}
	}
	if p.isProxyError(response) {
		return true
	}
	for _, each := range []string{only(h, "X-Id"), only(h, "X-Id-Last"), strings.TrimPrefix(only(h, "Set-Cookie"), "id=")} {
		if each != p.id {
			p.fail("%d has %s: %v", response.StatusCode, each, h)
			return false
		}
	}
	if isProcessed(p.kind) && only(h, "X-Proc-Responseheaders") != p.id {
		p.fail("%d was not processed: %v", response.StatusCode, h)
	}
	return true
}

// isProxyError says whether the proxy itself answered. To HEAD such an answer has no type.
func (p *plan) isProxyError(response *http.Response) bool {
	h := response.Header
	return h.Get("Content-Type") == "application/json" || p.method == "HEAD" && response.StatusCode >= 500 && h.Get("X-Id") == ""
}

// check verifies a whole response; an error is one that came while it was read.
func (m *mixer) check(p *plan, response *http.Response) error {
	if !p.look(response) {
		return nil
	}
	if p.isProxyError(response) {
		return m.proxyError(p, response)
	}
	found := proof{id: p.id}
	from := io.Reader(response.Body)
	if p.isSlow {
		from = &slowly{from: from, piece: 1 + max(p.size, p.sent)/20, pause: time.Millisecond}
	}
	_, err := io.Copy(&found, from)
	if found.wrong != "" {
		p.fail("response body %s", found.wrong)
	}
	size, status := p.size, 200
	switch {
	case p.deny:
		size, status = 1000, 403
	case p.mode == "echo":
		size = p.sent
	case p.mode == "204" || p.mode == "304":
		size = 0
		status, _ = strconv.Atoi(p.mode)
	case p.mode == "early":
		status = 413
	}
	if response.StatusCode != status {
		p.fail("status %d", response.StatusCode)
	}
	if p.method == "HEAD" {
		size = 0
	}
	if err != nil {
		if found.at > size {
			p.fail("%d bytes of %d", found.at, size)
		}
		return err
	}
	if found.at != size {
		p.fail("response of %d bytes is complete with %d: %v", size, found.at, response.Header)
	}
	if foreign := foreignIn(response.Trailer, p.id); foreign != "" {
		p.fail("foreign trailer %s", foreign)
	}
	if p.mode == "trailers" && !isProcessed(p.kind) && p.method != "HEAD" && only(response.Trailer, "X-Trail") != p.id && !p.deny {
		p.fail("trailers %v", response.Trailer)
	}
	if p.mode == "killbody" && p.size > 1 && !p.deny {
		p.fail("was cut, and is complete")
	}
	m.count(p.kind)
	return nil
}

func (m *mixer) proxyError(p *plan, response *http.Response) error {
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if foreign := foreignIn(http.Header{"body": {string(text)}}, p.id); foreign != "" {
		p.fail("error of another: %s", foreign)
	}
	var said struct {
		Error  string `json:"error"`
		Status int    `json:"status"`
	}
	if p.method != "HEAD" {
		if err := json.Unmarshal(text, &said); err != nil {
			p.fail("%d %q", response.StatusCode, text)
		}
	}
	m.count(fmt.Sprintf("%d %s", response.StatusCode, said.Error))
	isLate := p.kind == "budget" && response.StatusCode == 504
	isReset := (m.rough || p.mode == "early") && response.StatusCode == 502
	if !isLate && !isReset {
		p.fail("%d %q", response.StatusCode, text)
	}
	return nil
}
