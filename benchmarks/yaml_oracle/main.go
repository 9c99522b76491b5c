// Command yaml_oracle answers what kubectl and the API server read in YAML or JSON streams.
//
// It reads inputs from stdin and writes one answer for each to stdout. Inputs and answers are a length (four bytes, big endian)
// followed by that many bytes. An answer is a JSON list with one entry per document of the stream: {"json": value} or
// {"error": text}. Empty documents are left out, as kubectl leaves them out. Reading goes on behind a document that is refused.
//
//	GOFLAGS=-trimpath go build -o /tmp/yaml_oracle .
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

type answer struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Error string          `json:"error,omitempty"`
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		input, err := next(in)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		encoded, err := json.Marshal(documents(input))
		if err != nil {
			log.Fatal(err)
		}
		if err := binary.Write(out, binary.BigEndian, uint32(len(encoded))); err != nil {
			log.Fatal(err)
		}
		if _, err := out.Write(encoded); err != nil {
			log.Fatal(err)
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func next(in io.Reader) ([]byte, error) {
	var size uint32
	if err := binary.Read(in, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	input := make([]byte, size)
	_, err := io.ReadFull(in, input)
	return input, err
}

// documents decodes a stream as kubectl does, with the same decoder and the same type to decode into.
func documents(input []byte) []answer {
	found := []answer{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(input), 4096)
	// A decoder that cannot go on returns its error again and again.
	for left := bytes.Count(input, []byte("\n---")) + 2; left > 0; {
		raw, err := decode(decoder)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			found = append(found, answer{Error: err.Error()})
			left--
			var syntax *json.SyntaxError
			if errors.As(err, &syntax) {
				// Of several JSON objects in a row: the decoder stays where it is.
				break
			}
			continue
		}
		raw = bytes.TrimSpace(raw)
		if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
			found = append(found, answer{JSON: raw})
		}
	}
	return found
}

func decode(decoder *yaml.YAMLOrJSONDecoder) (raw []byte, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	var into runtime.RawExtension
	err = decoder.Decode(&into)
	return into.Raw, err
}
