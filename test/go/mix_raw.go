// Exchanges of `mix` that a library does not make: requests in a row on one connection, tunnels, requests torn off anywhere.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"time"
)

func (p *plan) bytes() []byte {
	text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: mix\r\n", p.method, p.target())
	for _, field := range p.fields() {
		text = fmt.Appendf(text, "%s: %s\r\n", field[0], field[1])
	}
	body := bodyOf(p.id, p.sent)
	switch {
	case p.chunked:
		text = append(text, "Transfer-Encoding: chunked\r\n\r\n"...)
		for size := 1 + p.sent/7; len(body) > 0; body = body[min(size, len(body)):] {
			piece := body[:min(size, len(body))]
			text = fmt.Appendf(text, "%x\r\n%s\r\n", len(piece), piece)
		}
		text = append(text, "0\r\n"...)
		if p.trailers {
			text = fmt.Appendf(text, "X-T: %s\r\n", p.id)
		}
		return append(text, "\r\n"...)
	case p.sent > 0 || p.method == "POST":
		text = fmt.Appendf(text, "Content-Length: %d\r\n", p.sent)
	}
	return append(append(text, "\r\n"...), body...)
}

func (m *mixer) dial() (net.Conn, error) {
	connection, err := net.Dial("tcp", m.address)
	if err == nil {
		connection.SetDeadline(time.Now().Add(40 * time.Second))
	}
	return connection, err
}

func isTimeout(err error) bool {
	timed, is := err.(net.Error)
	return is && timed.Timeout()
}

// pipeline sends up to six requests before it reads, in pieces cut anywhere.
func (m *mixer) pipeline(random *rand.Rand, worker, number int) {
	plans, text := []*plan{}, []byte{}
	for i := 0; i < 1+random.Intn(6); i++ {
		p := m.plan(random, idOf(m.seed, worker, number+i))
		p.place, p.abort, p.deny = nil, "", p.deny && p.sent < 50_000
		// An answer before the body is read may close the connection, and with it what is behind.
		if p.mode == "early" || p.mode == "echo" || p.kind == "budget" && p.mode == "latebody" {
			p.mode = "flush"
		}
		plans = append(plans, p)
		text = append(text, p.bytes()...)
	}
	connection, err := m.dial()
	if err != nil {
		plans[0].fail("%v", err)
		return
	}
	defer connection.Close()
	go func() {
		for len(text) > 0 {
			n := min(len(text), oneOf(random, 1, 7, 100, 1000, 20_000, 1_000_000))
			if _, err := connection.Write(text[:n]); err != nil {
				return
			}
			text = text[n:]
		}
	}()
	reader := bufio.NewReader(connection)
	for i, p := range plans {
		response, err := p.response(reader)
		if err == nil {
			err = m.check(p, response)
		}
		if err != nil {
			if isTimeout(err) {
				p.fail("hangs as number %d of %v: %v", i, plans, err)
			} else if !m.rough && p.kind != "budget" {
				p.fail("number %d of %v: %v", i, plans, err)
			}
			m.count("pipeline broken off")
			return
		}
		if response.Close {
			return
		}
	}
	m.count("pipelines")
}

// response is the next one that is final.
func (p *plan) response(reader *bufio.Reader) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(reader, &http.Request{Method: p.method})
		if err != nil || response.StatusCode >= 200 || response.StatusCode == 101 {
			return response, err
		}
		if foreign := foreignIn(response.Header, p.id); foreign != "" {
			p.fail("%d has %s", response.StatusCode, foreign)
		}
	}
}

// tunnel upgrades a connection and has its bytes back.
func (m *mixer) tunnel(random *rand.Rand, id string) {
	p := &plan{id: id, kind: oneOf(random, "plain", "wait", "retry"), mode: "upgrade", method: "GET", up: oneOf(random, 1, 3), size: 1 + random.Intn(200_000)}
	connection, err := m.dial()
	if err != nil {
		p.fail("%v", err)
		return
	}
	defer connection.Close()
	head := bytes.TrimSuffix(p.bytes(), []byte("\r\n"))
	fmt.Fprintf(connection, "%sConnection: Upgrade\r\nUpgrade: mix\r\n\r\n", head)
	reader := bufio.NewReader(connection)
	response, err := p.response(reader)
	if err != nil || response.StatusCode != 101 {
		if err != nil && isTimeout(err) || !m.rough {
			p.fail("is not upgraded: %v %v", err, response)
		}
		return
	}
	if foreign := foreignIn(response.Header, id); foreign != "" || only(response.Header, "X-Id") != id {
		p.fail("101 has %v", response.Header)
	}
	sent := p.size
	if random.Intn(3) == 0 {
		sent /= 2
	}
	go func() {
		connection.Write(bodyOf(id, sent))
		if sent == p.size {
			connection.(*net.TCPConn).CloseWrite()
		}
	}()
	found := proof{id: id}
	_, err = io.CopyN(&found, reader, int64(sent))
	if found.wrong != "" {
		p.fail("tunnel %s", found.wrong)
	}
	if err != nil && !m.rough {
		p.fail("tunnel of %d ends at %d: %v", sent, found.at, err)
	}
	m.count("tunnels")
}

// torn sends a part of a request and goes, or resets the connection; sometimes a whole one goes before it.
func (m *mixer) torn(random *rand.Rand, id string) {
	p := m.plan(random, id)
	p.place, p.abort = nil, "torn"
	text := p.bytes()
	connection, err := m.dial()
	if err != nil {
		p.fail("%v", err)
		return
	}
	connection.Write(text[:random.Intn(len(text))])
	time.Sleep(time.Duration(random.Intn(10)) * time.Millisecond)
	if random.Intn(2) == 0 {
		connection.(*net.TCPConn).SetLinger(0)
	}
	connection.Close()
	m.count("torn")
}
