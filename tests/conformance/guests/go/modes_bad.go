package main

import (
	"os"

	hookbox "hookbox.dev/guest"
)

var sink [][]byte

func loop(call) (hookbox.Decision, error) {
	for {
	}
}

func memory(call) (hookbox.Decision, error) {
	for {
		sink = append(sink, make([]byte, 1<<20))
	}
}

func recursion(call) (hookbox.Decision, error) {
	return hookbox.Allow(), sum(1)
}

// sum keeps its frame: what it returns is needed after the call.
func sum(depth int) error {
	frame := make([]byte, depth%16+1)
	if err := sum(depth + 1); err != nil {
		return err
	}
	sink = append(sink, frame)
	return nil
}

// The following are Go's own ways to fail, which no handler can catch.

func panicElsewhere(c call) (hookbox.Decision, error) {
	done := make(chan bool)
	go func() {
		defer close(done)
		panic(c.text("message"))
	}()
	<-done
	return hookbox.Allow(), nil
}

func deadlock(call) (hookbox.Decision, error) {
	<-make(chan bool)
	return hookbox.Allow(), nil
}

func exit(call) (hookbox.Decision, error) {
	os.Exit(3)
	return hookbox.Allow(), nil
}
