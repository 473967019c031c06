package hookbox

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encode writes a value as JSON text, by the rules of json.Marshal, with <, > and
// & as they are.
func encode(value any) (string, error) {
	text, err := write(nil, value, 0)
	return string(text), err
}

// write appends a value. Natural data comes first: it needs no reflection.
func write(to []byte, value any, depth int) ([]byte, error) {
	if depth > deepest {
		return nil, errors.New("it is nested too deep, or contains itself")
	}
	switch value := value.(type) {
	case nil:
		return append(to, "null"...), nil
	case bool:
		return strconv.AppendBool(to, value), nil
	case string:
		return writeString(to, value), nil
	case json.Number:
		return writeNumber(to, value)
	case map[string]any:
		return writeObject(to, value, depth)
	case []any:
		return writeList(to, len(value), func(to []byte, index int) ([]byte, error) {
			return write(to, value[index], depth+1)
		})
	}
	return writeReflected(to, reflect.ValueOf(value), depth)
}

func writeNumber(to []byte, number json.Number) ([]byte, error) {
	p := parser{text: string(number)}
	if number == "" {
		return append(to, '0'), nil
	}
	if first := number[0]; first != '-' && !isDigit(first) {
		return nil, errors.New("json.Number " + strconv.Quote(string(number)) + " is no number")
	}
	if _, err := p.number(); err != nil || p.at < len(p.text) {
		return nil, errors.New("json.Number " + strconv.Quote(string(number)) + " is no number")
	}
	return append(to, number...), nil
}

func writeObject(to []byte, object map[string]any, depth int) ([]byte, error) {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return writeFields(to, keys, func(to []byte, index int) ([]byte, error) {
		return write(to, object[keys[index]], depth+1)
	})
}

// writeFields writes an object whose values are written by a function.
func writeFields(to []byte, keys []string, item func([]byte, int) ([]byte, error)) ([]byte, error) {
	to = append(to, '{')
	for index, key := range keys {
		if index > 0 {
			to = append(to, ',')
		}
		to = append(writeString(to, key), ':')
		var err error
		if to, err = item(to, index); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func writeList(to []byte, length int, item func([]byte, int) ([]byte, error)) ([]byte, error) {
	to = append(to, '[')
	for index := range length {
		if index > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = item(to, index); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

func writeString(to []byte, text string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	to = append(to, '"')
	for {
		count := plain(text)
		to = append(to, text[:count]...)
		if count == len(text) {
			return append(to, '"')
		}
		letter := text[count]
		text = text[count+1:]
		if short := shortened[letter]; short != 0 {
			to = append(to, '\\', short)
		} else {
			to = append(to, '\\', 'u', '0', '0', hex[letter>>4], hex[letter&15])
		}
	}
}

// shortened is the letter that stands for another one after a backslash.
var shortened = [128]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

// writeReflected writes a value of a type that only the hook knows.
func writeReflected(to []byte, value reflect.Value, depth int) ([]byte, error) {
	kind := value.Kind()
	if (kind == reflect.Pointer || kind == reflect.Interface) && value.IsNil() {
		return append(to, "null"...), nil
	}
	if text, isOwn, err := marshalled(value); isOwn || err != nil {
		return append(to, text...), err
	}
	switch kind {
	case reflect.Bool:
		return strconv.AppendBool(to, value.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(to, value.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(to, value.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return writeFloat(to, value.Float(), value.Type().Bits())
	case reflect.String:
		return writeString(to, value.String()), nil
	case reflect.Pointer, reflect.Interface:
		return write(to, value.Elem().Interface(), depth+1)
	case reflect.Slice:
		if value.IsNil() {
			return append(to, "null"...), nil
		}
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return writeString(to, base64.StdEncoding.EncodeToString(value.Bytes())), nil
		}
		fallthrough
	case reflect.Array:
		return writeList(to, value.Len(), func(to []byte, index int) ([]byte, error) {
			return write(to, value.Index(index).Interface(), depth+1)
		})
	case reflect.Map:
		return writeMap(to, value, depth)
	case reflect.Struct:
		return writeStruct(to, value, depth)
	default:
		return nil, errors.New("JSON has nothing for the type " + value.Type().String())
	}
}

// marshalled asks a value that knows how it is written.
func marshalled(value reflect.Value) (text []byte, isOwn bool, err error) {
	switch own := value.Interface().(type) {
	case json.Marshaler:
		if text, err = own.MarshalJSON(); err != nil {
			return nil, true, err
		}
		_, err = parse(string(text))
		return text, true, err
	case encoding.TextMarshaler:
		if text, err = own.MarshalText(); err != nil {
			return nil, true, err
		}
		return writeString(nil, string(text)), true, nil
	}
	return nil, false, nil
}

// writeFloat writes the shortest text that reads as the same number.
func writeFloat(to []byte, number float64, bits int) ([]byte, error) {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return nil, errors.New("JSON has no " + strconv.FormatFloat(number, 'g', -1, bits))
	}
	format := byte('f')
	if size := math.Abs(number); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(to, number, format, -1, bits), nil
}

func writeMap(to []byte, value reflect.Value, depth int) ([]byte, error) {
	if value.IsNil() {
		return append(to, "null"...), nil
	}
	if value.Type().Key().Kind() != reflect.String {
		return nil, errors.New("JSON has only strings for keys, not " + value.Type().Key().String())
	}
	object := make(map[string]any, value.Len())
	for entries := value.MapRange(); entries.Next(); {
		object[entries.Key().String()] = entries.Value().Interface()
	}
	return writeObject(to, object, depth)
}

func writeStruct(to []byte, value reflect.Value, depth int) ([]byte, error) {
	var all members
	if err := all.add(value); err != nil {
		return nil, err
	}
	return writeFields(to, all.keys, func(to []byte, index int) ([]byte, error) {
		return write(to, all.values[index].Interface(), depth+1)
	})
}

// members are what an object is made of.
type members struct {
	keys   []string
	values []reflect.Value
}

// add adds the fields of a struct. Those of embedded structs come last, and only
// if there is no other field of the same name.
func (m *members) add(value reflect.Value) error {
	var embedded []reflect.Value
	for index := range value.NumField() {
		field, err := fieldOf(value.Type().Field(index))
		if err != nil {
			return err
		}
		found := value.Field(index)
		switch {
		case field.isEmbedded && found.Kind() != reflect.Pointer:
			embedded = append(embedded, found)
		case field.isEmbedded && !found.IsNil():
			embedded = append(embedded, found.Elem())
		case field.name == "" || slices.Contains(m.keys, field.name):
		case field.has("omitempty") && isEmpty(found) || field.has("omitzero") && found.IsZero():
		default:
			m.keys = append(m.keys, field.name)
			m.values = append(m.values, found)
		}
	}
	for _, one := range embedded {
		if err := m.add(one); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return value.Len() == 0
	case reflect.Struct:
		return false
	default:
		return value.IsZero()
	}
}
