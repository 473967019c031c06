// Package hookslog lets log/slog write to the log of a hook:
//
//	func init() { slog.SetDefault(slog.New(hookslog.New())) }
//
// It is a package of its own because log/slog makes a hook larger.
package hookslog

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	hookbox "hookbox.dev/guest"
)

// New returns a handler that writes each record as one line, without its time
// and level, which the log knows by itself.
func New() slog.Handler {
	line := new(bytes.Buffer)
	options := slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutKnown}
	return handler{line: line, text: slog.NewTextHandler(line, &options)}
}

type handler struct {
	line *bytes.Buffer
	text slog.Handler
}

func (h handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(ctx context.Context, record slog.Record) error {
	h.line.Reset()
	message := record.Message
	// The message is written as it is, without quotes and a name.
	record.Message = ""
	record.Time = time.Time{}
	if err := h.text.Handle(ctx, record); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(h.line.Bytes()); len(rest) > 0 {
		message += " " + string(rest)
	}
	write(record.Level, message)
	return nil
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{line: h.line, text: h.text.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{line: h.line, text: h.text.WithGroup(name)}
}

// withoutKnown drops the level and the message, and nothing that a hook added
// under the same names.
func withoutKnown(groups []string, attr slog.Attr) slog.Attr {
	_, isLevel := attr.Value.Any().(slog.Level)
	isMessage := attr.Key == slog.MessageKey && attr.Value.Kind() == slog.KindString && attr.Value.String() == ""
	if len(groups) == 0 && (isLevel || isMessage) {
		return slog.Attr{}
	}
	return attr
}

func write(level slog.Level, message string) {
	switch {
	case level < slog.LevelInfo:
		hookbox.Log.Debug(message)
	case level < slog.LevelWarn:
		hookbox.Log.Info(message)
	case level < slog.LevelError:
		hookbox.Log.Warn(message)
	default:
		hookbox.Log.Error(message)
	}
}
