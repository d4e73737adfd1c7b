// A gRPC service of bytes and its client, on gRPC's implementation in Go. `serve` prints its port and serves until its
// input ends; `kinds ADDRESS CA` makes a call of each kind and prints what came of each as JSON; `calls ADDRESS CA COUNT`
// makes so many over ever new connections and prints how many were served and what failed. `website` serves HTTP/2 in
// cleartext, prints its port, and reads and writes in small pieces; `read URL SIZE` gets a body and `write URL SIZE` posts
// one, in pieces of that size, and prints what came of it. `mixup CERTIFICATE KEY` and `mix SEED SECONDS calm|rough URL URL URL` are both
// ends of exchanges that prove whose they are (mix_identity.go).
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// raw passes bytes as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) Name() string { return "raw" }

const most = 32 << 20

func unary(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var in []byte
	if err := decode(&in); err != nil {
		return nil, err
	}
	md, _ := metadata.FromIncomingContext(ctx)
	grpc.SetHeader(ctx, metadata.MD{"x-tenant": md.Get("x-tenant"), "x-blob-bin": md.Get("x-blob-bin")})
	grpc.SetTrailer(ctx, metadata.Pairs("x-length", strconv.Itoa(len(in))))
	return &in, nil
}

func fail(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	grpc.SetTrailer(ctx, metadata.Pairs("x-reason-bin", "\x00\xff\x01"))
	return nil, status.Error(codes.FailedPrecondition, "not now: ä, 100 %")
}

func wait(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("x-begin")) > 0 {
		grpc.SendHeader(ctx, metadata.MD{})
	}
	deadline, has := ctx.Deadline()
	told := "none"
	if has {
		told = fmt.Sprintf("%.1f", time.Until(deadline).Seconds())
	}
	<-ctx.Done()
	fmt.Println("cancelled", told)
	return nil, ctx.Err()
}

func serverStream(_ any, stream grpc.ServerStream) error {
	var in []byte
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	count, _ := strconv.Atoi(string(in))
	part := bytes.Repeat([]byte("x"), 1000)
	for i := 0; i < count; i++ {
		if err := stream.SendMsg(&part); err != nil {
			return err
		}
	}
	return nil
}

func clientStream(_ any, stream grpc.ServerStream) error {
	total := 0
	for {
		var in []byte
		err := stream.RecvMsg(&in)
		if err == io.EOF {
			out := []byte(strconv.Itoa(total))
			return stream.SendMsg(&out)
		}
		if err != nil {
			return err
		}
		total += len(in)
	}
}

func both(_ any, stream grpc.ServerStream) error {
	for {
		var in []byte
		err := stream.RecvMsg(&in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		out := bytes.ToUpper(in)
		if err := stream.SendMsg(&out); err != nil {
			return err
		}
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.MaxRecvMsgSize(most), grpc.MaxSendMsgSize(most))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "echo.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			{MethodName: "Unary", Handler: unary}, {MethodName: "Fail", Handler: fail}, {MethodName: "Wait", Handler: wait},
		},
		Streams: []grpc.StreamDesc{
			{StreamName: "ServerStream", Handler: serverStream, ServerStreams: true},
			{StreamName: "ClientStream", Handler: clientStream, ClientStreams: true},
			{StreamName: "Both", Handler: both, ServerStreams: true, ClientStreams: true},
		},
	}, nil)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	must(server.Serve(listener))
}

func connect(address, authority string) *grpc.ClientConn {
	trust, err := credentials.NewClientTLSFromFile(authority, "sluice.test")
	must(err)
	calls := grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(most), grpc.MaxCallSendMsgSize(most))
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(trust), calls)
	must(err)
	return connection
}

// within ends by its deadline alone: a second timer of the same length that cancels would win half of the time.
func within(duration time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func receiveAll(stream grpc.ClientStream) [][]byte {
	var parts [][]byte
	for {
		var part []byte
		err := stream.RecvMsg(&part)
		if err == io.EOF {
			return parts
		}
		must(err)
		parts = append(parts, part)
	}
}

func open(c *grpc.ClientConn, name string, server, client bool) grpc.ClientStream {
	desc := &grpc.StreamDesc{StreamName: name, ServerStreams: server, ClientStreams: client}
	stream, err := c.NewStream(within(time.Minute), desc, "/echo.Echo/"+name)
	must(err)
	return stream
}

func kinds(address, authority string) {
	c := connect(address, authority)
	found := map[string]any{}
	var header, trailer metadata.MD
	in, out := []byte("hello"), []byte{}
	sent := metadata.AppendToOutgoingContext(within(time.Minute), "x-tenant", "a, b", "x-blob-bin", "\x00\x01\xfe")
	must(c.Invoke(sent, "/echo.Echo/Unary", &in, &out, grpc.Header(&header), grpc.Trailer(&trailer)))
	found["unary"] = string(out)
	found["metadata"] = []string{header.Get("x-tenant")[0], fmt.Sprintf("%x", header.Get("x-blob-bin")[0])}
	found["trailers"] = trailer.Get("x-length")
	large := make([]byte, 10_000_000)
	must(c.Invoke(within(2*time.Minute), "/echo.Echo/Unary", &large, &out))
	found["large"] = bytes.Equal(large, out)

	stream := open(c, "ServerStream", true, false)
	count := []byte("2000")
	must(stream.SendMsg(&count))
	must(stream.CloseSend())
	found["serverStream"] = len(bytes.Join(receiveAll(stream), nil))

	stream = open(c, "ClientStream", false, true)
	part := bytes.Repeat([]byte("y"), 1000)
	for i := 0; i < 2000; i++ {
		must(stream.SendMsg(&part))
	}
	must(stream.CloseSend())
	found["clientStream"] = string(bytes.Join(receiveAll(stream), nil))

	stream = open(c, "Both", true, true)
	for _, letter := range []string{"a", "b", "c"} {
		letter := []byte(letter)
		must(stream.SendMsg(&letter))
	}
	must(stream.CloseSend())
	found["both"] = string(bytes.Join(receiveAll(stream), []byte(" ")))

	err := c.Invoke(within(time.Minute), "/echo.Echo/Fail", &in, &out, grpc.Trailer(&trailer))
	found["fail"] = []string{status.Code(err).String(), status.Convert(err).Message(), fmt.Sprintf("%x", trailer.Get("x-reason-bin")[0])}
	err = c.Invoke(within(time.Minute), "/echo.Echo/Nothing", &in, &out)
	found["unimplemented"] = status.Code(err).String()
	err = c.Invoke(within(2*time.Second), "/echo.Echo/Wait", &in, &out)
	found["deadline"] = status.Code(err).String()
	// The service has begun with it when it is cancelled.
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "x-begin", "1"))
	stream, err = c.NewStream(ctx, &grpc.StreamDesc{StreamName: "Wait", ServerStreams: true}, "/echo.Echo/Wait")
	must(err)
	must(stream.SendMsg(&in))
	must(stream.CloseSend())
	_, err = stream.Header()
	must(err)
	cancel()
	found["cancel"] = status.Code(stream.RecvMsg(&out)).String()
	must(json.NewEncoder(os.Stdout).Encode(found))
}

func calls(address, authority string, count int) {
	served, failed := 0, []string{}
	var lock sync.Mutex
	var group sync.WaitGroup
	for worker := 0; worker < 5; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for done := 0; done < count/5; done += 100 {
				c := connect(address, authority)
				for i := 0; i < 100; i++ {
					in, out := []byte(fmt.Sprint("call ", i)), []byte{}
					err := c.Invoke(within(time.Minute), "/echo.Echo/Unary", &in, &out)
					lock.Lock()
					if err == nil && bytes.Equal(in, out) {
						served++
					} else {
						failed = append(failed, fmt.Sprint(err))
					}
					lock.Unlock()
				}
				c.Close()
			}
		}()
	}
	group.Wait()
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"served": served, "failed": failed}))
}

// copyIn reads in pieces of a size and gives how much there was.
func copyIn(from io.Reader, size int) int {
	total, piece := 0, make([]byte, size)
	for {
		n, err := from.Read(piece)
		total += n
		if err == io.EOF {
			return total
		}
		must(err)
	}
}

const bodyBytes = 50_000_000

type pieces struct{ size, left int }

func (p *pieces) Read(into []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n := min(p.size, p.left, len(into))
	p.left -= n
	return n, nil
}

func website() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			fmt.Fprintf(w, "%s %d", r.Proto, copyIn(r.Body, 1000))
			return
		}
		piece := make([]byte, 1000)
		for left := bodyBytes; left > 0; left -= len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		server.Close()
	}()
	server.Serve(listener)
}

func client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		ForceAttemptHTTP2: true,
	}}
}

func read(url string, size int) {
	response, err := client().Get(url)
	must(err)
	fmt.Println(response.Proto, copyIn(response.Body, size))
}

func write(url string, size int) {
	response, err := client().Post(url, "text/plain", &pieces{size, bodyBytes})
	must(err)
	text, err := io.ReadAll(response.Body)
	must(err)
	fmt.Println(response.Proto, string(text))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	switch os.Args[1] {
	case "serve":
		serve()
	case "kinds":
		kinds(os.Args[2], os.Args[3])
	case "website":
		website()
	case "mixup":
		mixUpstream(os.Args[2], os.Args[3])
	case "mix":
		seed, err := strconv.Atoi(os.Args[2])
		must(err)
		seconds, err := strconv.Atoi(os.Args[3])
		must(err)
		mix(seed, seconds, os.Args[4] == "rough", os.Args[5], os.Args[6], os.Args[7])
	case "read", "write":
		size, err := strconv.Atoi(os.Args[3])
		must(err)
		if os.Args[1] == "read" {
			read(os.Args[2], size)
		} else {
			write(os.Args[2], size)
		}
	case "calls":
		count, err := strconv.Atoi(os.Args[4])
		must(err)
		calls(os.Args[2], os.Args[3], count)
	}
}
