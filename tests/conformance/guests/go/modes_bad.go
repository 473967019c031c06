package main

import hookbox "hookbox.dev/guest"

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
