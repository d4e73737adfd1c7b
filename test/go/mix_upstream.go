// The upstream of `mix`, its mirror, and the services that middlewares ask. It verifies that each request is of one id, and
// answers as the request asks in its query, also badly.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

type connectionKey struct{}

// attempts counts how often an id has come.
var attempts sync.Map

type visit struct {
	w        http.ResponseWriter
	r        *http.Request
	id       string
	kind     string
	mode     string
	size     int
	isMirror bool
}

// mixUpstream prints the ports of the upstream, of the mirror, and of the upstream under TLS with that certificate, and
// serves until its input ends.
func mixUpstream(certificate, key string) {
	for place := range 3 {
		isMirror := place == 1
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(err)
		protocols := new(http.Protocols)
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
		protocols.SetUnencryptedHTTP2(true)
		server := http.Server{
			Protocols: protocols,
			ErrorLog:  silent(),
			// What Go's server has against a connection of HTTP/2 or a stream of it, and may close it for.
			HTTP2: &http.HTTP2Config{CountError: func(what string) { fmt.Println("COMPLAINT " + what) }},
			ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
				return context.WithValue(ctx, connectionKey{}, connection)
			},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					process(w, r)
				case "/authz":
					authorize(w, r)
				case "/jwks":
					w.Write(keySet())
				default:
					q := r.URL.Query()
					size, _ := strconv.Atoi(q.Get("size"))
					parts := strings.Split(r.URL.Path, "/")
					if len(parts) != 4 {
						tell("upstream", "?", r.URL.String(), "path")
						return
					}
					v := visit{w, r, only(r.Header, "X-Id"), parts[2], q.Get("m"), size, isMirror}
					v.verify(parts[3])
					v.answer()
				}
			}),
		}
		fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		if place == 2 {
			go server.ServeTLS(listener, certificate, key)
		} else {
			go server.Serve(listener)
		}
	}
	io.Copy(io.Discard, os.Stdin)
}

func (v *visit) fail(format string, args ...any) {
	about := fmt.Sprintf("%s %s mirror %v from %s", v.r.Method, v.r.URL, v.isMirror, v.r.RemoteAddr)
	tell("upstream", v.id, about, format, args...)
}

// verify looks at all that is there before the body.
func (v *visit) verify(fromPath string) {
	h := v.r.Header
	found := []string{fromPath, v.r.URL.Query().Get("i"), only(h, "X-Id-Again"), strings.TrimPrefix(only(h, "Cookie"), "id=")}
	switch v.kind {
	case "fields":
		found = append(found, only(h, "X-Via"), only(h, "X-Sub"))
		if h.Get("Authorization") != "" {
			v.fail("has the token")
		}
	case "authz", "authzbody", "authzgrpc":
		found = append(found, only(h, "X-Authz"))
	case "buffered", "partial", "streamed", "processed", "envoy":
		found = append(found, only(h, "X-Proc-Requestheaders"))
	}
	for i, each := range found {
		if each != v.id {
			v.fail("part %d is %s", i, each)
		}
	}
	if foreign := foreignIn(h, v.id); foreign != "" {
		v.fail("foreign field %s", foreign)
	}
	if v.isMirror {
		return
	}
	count := new(int)
	if known, isKnown := attempts.LoadOrStore(v.id, count); isKnown {
		count = known.(*int)
	}
	*count++
	// Clients of Go send those without a body once more themselves.
	if *count > 1 && v.kind != "retry" && v.r.Method == "POST" {
		v.fail("has come %d times", *count)
	}
}

// read takes the body; false when it was broken off.
func (v *visit) read() bool {
	want, _ := strconv.Atoi(v.r.Header.Get("X-Want"))
	p := proof{id: v.id}
	from := io.Reader(v.r.Body)
	if v.mode == "slow" {
		from = &slowly{from: from, piece: 9000, pause: time.Millisecond}
	}
	_, err := io.Copy(&p, from)
	if p.wrong != "" {
		v.fail("request body %s", p.wrong)
	}
	if err != nil {
		if p.at > want {
			v.fail("%d bytes of %d, then %v", p.at, want, err)
		}
		return false
	}
	if p.at != want {
		v.fail("request body of %d bytes is complete with %d (length %d, coding %v)", want, p.at, v.r.ContentLength, v.r.TransferEncoding)
	}
	// Go's server of HTTP/2 knows the trailers alone that were announced, which a proxy does not pass on.
	streams := v.kind == "plain" || v.kind == "wait" || v.kind == "fields"
	if v.r.Header.Get("X-Trailer-Sent") != "" && streams && v.r.ProtoMajor == 1 && !v.isMirror {
		if got := only(v.r.Trailer, "X-T"); got != v.id {
			v.fail("trailer %s", got)
		}
	}
	if foreign := foreignIn(v.r.Trailer, v.id); foreign != "" {
		v.fail("foreign trailer %s", foreign)
	}
	return true
}

// head sets the fields by which the client knows its answer.
func (v *visit) head() {
	h := v.w.Header()
	h.Set("X-Id", v.id)
	h.Set("X-Id-Last", v.id)
	h.Set("Set-Cookie", "id="+v.id)
	h.Set("X-Len", strconv.Itoa(v.size))
	h.Set("Content-Type", "text/plain")
}

func (v *visit) flush() { http.NewResponseController(v.w).Flush() }

func (v *visit) answer() {
	early := v.mode == "early" || v.mode == "killhead" && v.size%2 == 0
	attempt := 1
	if v.kind == "retry" {
		attempt, _ = strconv.Atoi(v.r.Header.Get("X-Gateway-Attempt-Count"))
		if attempt == 1 && v.mode == "again" {
			early = v.size%2 == 0
		}
	}
	// To Go's server of HTTP/2, trailers that are on their way when it has answered are an error of the whole connection:
	// it closes that, with all that others have on it. RFC 9113 §5.1 would have them ignored.
	if v.r.ProtoMajor == 2 && v.r.Header.Get("X-Trailer-Sent") != "" {
		early = false
	}
	if v.mode != "echo" && !early && !v.read() {
		panic(http.ErrAbortHandler)
	}
	v.head()
	if v.isMirror {
		if v.size%5 == 0 {
			v.cut()
		}
		v.w.Write(bodyOf(v.id, v.size))
		return
	}
	switch v.mode {
	case "again":
		if attempt == 1 && v.size%3 == 0 {
			v.cut()
		}
		if attempt == 1 {
			v.w.WriteHeader(503)
		}
	case "early":
		v.w.WriteHeader(413)
	case "hints":
		v.w.Header().Set("Link", "</"+v.id+">")
		v.w.WriteHeader(103)
	case "204", "304":
		v.w.Header().Del("Content-Type")
		code, _ := strconv.Atoi(v.mode)
		v.w.WriteHeader(code)
		return
	case "late":
		time.Sleep(250 * time.Millisecond)
	case "trailers":
		v.w.Header().Set("Trailer", "X-Trail")
	case "length":
		v.w.Header().Set("Content-Length", strconv.Itoa(v.size))
	case "killhead":
		v.killInHead()
		return
	case "upgrade":
		v.upgrade()
		return
	case "echo":
		v.echo()
		return
	case "surplus", "closed":
		if v.r.ProtoMajor == 1 {
			v.raw()
			return
		}
	}
	v.body()
}

func (v *visit) body() {
	left := bodyOf(v.id, v.size)
	if v.mode == "flush" || v.mode == "slow" || v.mode == "killbody" || v.mode == "latebody" {
		for pieces := 0; len(left) > 0; pieces++ {
			n := min(len(left), 1+(len(left)*7919+pieces)%5000)
			v.w.Write(left[:n])
			left = left[n:]
			if pieces < 20 {
				v.flush()
			}
			if v.mode == "slow" && pieces < 20 {
				time.Sleep(time.Millisecond)
			}
			if v.mode == "latebody" && pieces == 1 {
				time.Sleep(250 * time.Millisecond)
			}
			if v.mode == "killbody" && len(left) < v.size/2 {
				v.cut()
			}
		}
	}
	v.w.Write(left)
	if v.mode == "trailers" {
		v.w.Header().Set("X-Trail", v.id)
	}
}

// cut ends the stream or, with all that it carries, the connection.
func (v *visit) cut() {
	if v.size%4 == 1 && v.r.URL.Query().Get("rough") != "" {
		v.r.Context().Value(connectionKey{}).(net.Conn).Close()
	}
	panic(http.ErrAbortHandler)
}

func (v *visit) hijack() net.Conn {
	connection, _, err := http.NewResponseController(v.w).Hijack()
	must(err)
	return connection
}

func (v *visit) killInHead() {
	if v.r.ProtoMajor != 1 {
		v.cut()
	}
	connection := v.hijack()
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nX-Id: %s\r\nX-Id-Last: %s\r\nContent-Le", v.id, v.id)
	connection.Write([]byte(head[:v.size%len(head)]))
	if tcp, is := connection.(*net.TCPConn); is && v.size%3 == 0 {
		tcp.SetLinger(0)
	}
	connection.Close()
}

// raw answers whole and then, in the same piece, what nobody asked for, or closes without having said so.
func (v *visit) raw() {
	connection := v.hijack()
	defer connection.Close()
	text := "HTTP/1.1 200 OK\r\n"
	v.w.Header().Set("Content-Length", strconv.Itoa(v.size))
	for name, values := range v.w.Header() {
		text += name + ": " + values[0] + "\r\n"
	}
	text += "\r\n"
	if v.r.Method != "HEAD" {
		text += string(bodyOf(v.id, v.size))
	}
	if v.mode == "surplus" {
		text += "HTTP/1.1 200 OK\r\nX-Id: x000000000-000-0000000\r\nContent-Length: 7\r\n\r\nsurplus"
	}
	io.WriteString(connection, text)
	if v.mode == "surplus" {
		time.Sleep(200 * time.Millisecond)
	}
}

func (v *visit) upgrade() {
	connection, buffered, err := http.NewResponseController(v.w).Hijack()
	must(err)
	defer connection.Close()
	protocol := v.r.Header.Get("Upgrade")
	fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\nX-Id: %s\r\nX-Id-Last: %s\r\n", protocol, v.id, v.id)
	if key := v.r.Header.Get("Sec-Websocket-Key"); key != "" {
		fmt.Fprintf(connection, "Sec-WebSocket-Accept: %s\r\n", accepted(key))
	}
	fmt.Fprint(connection, "\r\n")
	p := proof{id: v.id}
	io.Copy(io.MultiWriter(connection, &p), buffered)
	if p.wrong != "" {
		v.fail("tunnel %s", p.wrong)
	}
	connection.(interface{ CloseWrite() error }).CloseWrite()
}

func (v *visit) echo() {
	http.NewResponseController(v.w).EnableFullDuplex()
	v.w.Header().Set("X-Len", v.r.Header.Get("X-Want"))
	v.w.WriteHeader(200)
	v.flush()
	p, piece := proof{id: v.id}, make([]byte, 10_000)
	for {
		n, err := v.r.Body.Read(piece)
		p.Write(piece[:n])
		if p.wrong != "" {
			v.fail("echo %s", p.wrong)
		}
		v.w.Write(piece[:n])
		v.flush()
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// process is the service of extProc: what it is shown is of one id, and what it sets says which.
func process(w http.ResponseWriter, r *http.Request) {
	var message struct {
		Phase       string `json:"phase"`
		Headers     []pair `json:"headers"`
		Body        []byte `json:"body"`
		EndOfStream bool   `json:"endOfStream"`
	}
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		tell("processor", "?", r.URL.String(), "%v", err)
		return
	}
	text := string(message.Body)
	for _, each := range message.Headers {
		text += "\n" + each.Key + ": " + each.Value
	}
	ids := anyID.FindAllString(text, -1)
	for _, id := range ids {
		if id != ids[0] {
			tell("processor", ids[0], message.Phase, "is shown %s too", id)
		}
	}
	answer := map[string]any{"action": message.Phase}
	if len(ids) > 0 {
		answer["setHeaders"] = []pair{{"x-proc-" + message.Phase, ids[0]}}
		p := proof{id: ids[0]}
		p.Write(message.Body)
		if message.EndOfStream && len(message.Body) > 0 && len(message.Body) < 4096 && p.wrong == "" {
			answer["replaceBody"] = message.Body
		}
		hash := fnv.New32()
		io.WriteString(hash, ids[0]+message.Phase)
		time.Sleep(time.Duration(hash.Sum32()%4) * 2 * time.Millisecond)
	}
	json.NewEncoder(w).Encode(answer)
}

// authorize is the service of extAuthz.
func authorize(w http.ResponseWriter, r *http.Request) {
	id := only(r.Header, "X-Id")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p := proof{id: id}
	p.Write(body)
	if want := r.Header.Get("X-Want"); p.wrong != "" || want != "" && want != strconv.Itoa(len(body)) {
		tell("authorizer", id, r.Method, "body of %d, wanted %s: %s", len(body), want, p.wrong)
	}
	if injected := only(r.Header, "X-Injected"); injected != id {
		tell("authorizer", id, r.Method, "injected is %s", injected)
	}
	w.Header().Set("X-Authz", id)
	if r.Header.Get("X-Deny") != "" {
		w.Header().Set("X-Id", id)
		w.Header().Set("X-Id-Last", id)
		w.Header().Set("Set-Cookie", "id="+id)
		w.Header().Set("X-Len", "1000")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(403)
		w.Write(bodyOf(id, 1000))
	}
}
