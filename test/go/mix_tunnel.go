// Tunnels of `mix` over HTTP/2: WebSockets by extended CONNECT (RFC 8441), many on one connection, beside everything else.
package main

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http2"
)

// streamTransport speaks HTTP/2 in cleartext.
func streamTransport() *http2.Transport {
	return &http2.Transport{
		AllowHTTP:          true,
		DisableCompression: true,
		DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
}

// accepted is the proof that a server of RFC 6455 has read the key.
func accepted(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// tunnelOnStream opens a WebSocket on a stream and has its bytes back.
func (m *mixer) tunnelOnStream(random *rand.Rand, id string) {
	p := &plan{id: id, kind: oneOf(random, "plain", "wait", "retry"), mode: "upgrade", method: "CONNECT", up: oneOf(random, 1, 3), size: 1 + random.Intn(200_000)}
	target, err := url.Parse(m.both + p.target())
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	sent := p.size
	if random.Intn(3) == 0 {
		sent /= 2
	}
	body, writer := io.Pipe()
	defer writer.Close()
	request := (&http.Request{Method: "CONNECT", URL: target, Host: target.Host, Header: http.Header{}, Body: body, ContentLength: -1}).WithContext(ctx)
	for _, field := range p.fields() {
		request.Header.Set(field[0], field[1])
	}
	request.Header.Set(":protocol", "websocket")
	request.Header.Set("Sec-Websocket-Version", "13")
	response, err := m.streams.RoundTrip(request)
	if err != nil || response.StatusCode != 200 {
		if ctx.Err() != nil || !m.rough {
			p.fail("is no WebSocket: %v %v", err, response)
		}
		return
	}
	defer response.Body.Close()
	if foreign := foreignIn(response.Header, id); foreign != "" || only(response.Header, "X-Id") != id {
		p.fail("the WebSocket has %v", response.Header)
	}
	go func() {
		writer.Write(bodyOf(id, sent))
		if sent == p.size {
			writer.Close()
		}
	}()
	found := proof{id: id}
	_, err = io.CopyN(&found, response.Body, int64(sent))
	if found.wrong != "" {
		p.fail("WebSocket %s", found.wrong)
	}
	if err != nil && (ctx.Err() != nil || !m.rough) {
		p.fail("WebSocket of %d ends at %d: %v", sent, found.at, err)
	}
	if err == nil && sent == p.size {
		if n, err := response.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF && !m.rough {
			p.fail("WebSocket of %d goes on with %d: %v", sent, n, err)
		}
	}
	m.count("tunnels on streams")
}
