package hookslog_test

import (
	"log/slog"
	"slices"
	"testing"

	"hookbox.dev/guest/hookboxtest"
	"hookbox.dev/guest/hookslog"
)

func TestRecordsBecomeLinesOfTheirLevel(t *testing.T) {
	host := hookboxtest.New(t)
	logger := slog.New(hookslog.New())
	logger.Debug("small")
	logger.Info("two words")
	logger.With("user", "ann").WithGroup("call").Warn("slow", "tool", "a b", "n", 3)
	logger.Error("bad", "time", "now", "level", "high")
	want := []string{
		"debug: small",
		"info: two words",
		`warn: slow user=ann call.tool="a b" call.n=3`,
		"error: bad time=now level=high",
	}
	if got := host.Logs(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
