package hookbox

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// decode stores JSON text in what into points to.
func decode(text string, into any) error {
	value, err := parse(text)
	if err != nil {
		return err
	}
	return bind(value, into)
}

// bind stores natural data in what into points to, by the rules of
// json.Unmarshal, but for two: an any gets numbers as json.Number, and an object
// with two keys for the same field, which then differ in case, is an error. A hook
// would see one of them and a tool the other.
func bind(value, into any) error {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return errors.New("there is no pointer to store the value in")
	}
	return store(value, target.Elem())
}

// misfit is a value that does not fit, and where it is.
type misfit struct{ path, text string }

func (m *misfit) Error() string {
	if m.path == "" {
		return m.text
	}
	return m.path + ": " + m.text
}

// within says in which field or item something did not fit.
func within(name string, err error) error {
	if err == nil {
		return nil
	}
	inner, isMisfit := err.(*misfit)
	switch {
	case !isMisfit:
		return &misfit{path: name, text: err.Error()}
	case inner.path == "":
		inner.path = name
	default:
		inner.path = name + "." + inner.path
	}
	return inner
}

func doesNotFit(value any, target reflect.Type) error {
	found := "null"
	switch value := value.(type) {
	case bool:
		found = "a boolean"
	case string:
		found = "a string"
	case json.Number:
		found = "the number " + string(value)
	case []any:
		found = "a list"
	case map[string]any:
		found = "an object"
	}
	return &misfit{text: found + " does not fit into " + target.String()}
}

func store(value any, target reflect.Value) error {
	if target.Kind() == reflect.Pointer && value != nil {
		if target.IsNil() {
			target.Set(reflect.New(target.Type().Elem()))
		}
		return store(value, target.Elem())
	}
	if isOwn, err := unmarshalled(value, target); isOwn {
		return err
	}
	if value == nil {
		switch target.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
			target.SetZero()
		}
		return nil
	}
	if target.Kind() == reflect.Interface && target.NumMethod() == 0 {
		target.Set(reflect.ValueOf(value))
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		return storeObject(value, target)
	case []any:
		return storeList(value, target)
	case json.Number:
		return storeNumber(value, target)
	case string:
		return storeString(value, target)
	case bool:
		if target.Kind() == reflect.Bool {
			target.SetBool(value)
			return nil
		}
	}
	return doesNotFit(value, target.Type())
}

// unmarshalled lets a target that knows how it is read do it.
func unmarshalled(value any, target reflect.Value) (isOwn bool, err error) {
	// Only a type with a name of its own can have methods; looking for them is slow.
	if target.Type().PkgPath() == "" || !target.CanAddr() || !target.Addr().CanInterface() {
		return false, nil
	}
	switch own := target.Addr().Interface().(type) {
	case json.Unmarshaler:
		text, err := encode(value)
		if err != nil {
			return true, err
		}
		return true, own.UnmarshalJSON([]byte(text))
	case encoding.TextUnmarshaler:
		if text, isText := value.(string); isText {
			return true, own.UnmarshalText([]byte(text))
		}
	}
	return false, nil
}

var numberType = reflect.TypeFor[json.Number]()

func storeString(value string, target reflect.Value) error {
	switch kind := target.Kind(); {
	case kind == reflect.String && target.Type() != numberType:
		target.SetString(value)
		return nil
	case kind == reflect.Slice && target.Type().Elem().Kind() == reflect.Uint8:
		bytes, err := base64.StdEncoding.DecodeString(value)
		if err == nil {
			target.SetBytes(bytes)
		}
		return err
	}
	return doesNotFit(value, target.Type())
}

func storeNumber(value json.Number, target reflect.Value) error {
	switch target.Kind() {
	case reflect.String:
		if target.Type() == numberType {
			target.SetString(string(value))
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if number, err := strconv.ParseInt(string(value), 10, target.Type().Bits()); err == nil {
			target.SetInt(number)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if number, err := strconv.ParseUint(string(value), 10, target.Type().Bits()); err == nil {
			target.SetUint(number)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if number, err := strconv.ParseFloat(string(value), target.Type().Bits()); err == nil {
			target.SetFloat(number)
			return nil
		}
	}
	return doesNotFit(value, target.Type())
}

func storeList(list []any, target reflect.Value) error {
	switch target.Kind() {
	case reflect.Slice:
		target.Set(reflect.MakeSlice(target.Type(), len(list), len(list)))
	case reflect.Array:
		target.SetZero()
	default:
		return doesNotFit(list, target.Type())
	}
	for index, item := range list[:min(len(list), target.Len())] {
		if err := store(item, target.Index(index)); err != nil {
			return within(strconv.Itoa(index), err)
		}
	}
	return nil
}

func storeObject(object map[string]any, target reflect.Value) error {
	switch target.Kind() {
	case reflect.Struct:
		return storeStruct(object, target)
	case reflect.Map:
		if target.Type().Key().Kind() == reflect.String {
			return storeMap(object, target)
		}
	}
	return doesNotFit(object, target.Type())
}

func storeMap(object map[string]any, target reflect.Value) error {
	kind := target.Type()
	if target.IsNil() {
		target.Set(reflect.MakeMapWithSize(kind, len(object)))
	}
	for key, item := range object {
		value := reflect.New(kind.Elem()).Elem()
		if err := store(item, value); err != nil {
			return within(key, err)
		}
		target.SetMapIndex(reflect.ValueOf(key).Convert(kind.Key()), value)
	}
	return nil
}

func storeStruct(object map[string]any, target reflect.Value) error {
	kind := target.Type()
	for index := range kind.NumField() {
		field, err := fieldOf(kind.Field(index))
		if err == nil {
			err = storeField(object, field, target.Field(index))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func storeField(object map[string]any, field field, target reflect.Value) error {
	if field.isEmbedded {
		return storeEmbedded(object, target)
	}
	if field.name == "" {
		return nil
	}
	key, found, err := keyFor(object, field.name)
	if err != nil || !found {
		return err
	}
	return within(key, store(object[key], target))
}

// storeEmbedded stores in a struct, or a pointer to one, whose fields belong to
// the struct around it.
func storeEmbedded(object map[string]any, target reflect.Value) error {
	if target.Kind() == reflect.Pointer {
		if target.IsNil() {
			if !target.CanSet() {
				return errors.New("an embedded pointer to an unexported struct cannot be set")
			}
			target.Set(reflect.New(target.Type().Elem()))
		}
		target = target.Elem()
	}
	return storeStruct(object, target)
}

// keyFor returns the one key that stands for a field, in whatever case.
func keyFor(object map[string]any, name string) (key string, found bool, err error) {
	for other := range object {
		if !strings.EqualFold(other, name) {
			continue
		}
		if found {
			return "", false, errors.New("the keys " + strconv.Quote(min(key, other)) + " and " + strconv.Quote(max(key, other)) + " differ only in case")
		}
		key, found = other, true
	}
	return key, found, nil
}
