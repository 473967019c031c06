package hookbox

import (
	"errors"
	"reflect"
	"strings"
)

// field is a field of a struct, as JSON sees it. The tags are those of
// encoding/json.
type field struct {
	// name is empty if JSON does not see the field.
	name string
	// isEmbedded says that its own fields belong to the struct around it.
	isEmbedded bool
	options    string
}

func fieldOf(one reflect.StructField) (field, error) {
	tag := one.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	if one.Anonymous && name == "" && isStruct(one.Type) {
		return field{isEmbedded: true}, nil
	}
	if !one.IsExported() || tag == "-" {
		return field{}, nil
	}
	if name == "" {
		name = one.Name
	}
	found := field{name: name, options: options}
	if found.has("string") {
		return field{}, errors.New("the field " + one.Name + " has the option string, which hookbox does not know")
	}
	return found, nil
}

// has says whether the tag has an option.
func (f field) has(option string) bool {
	for rest := f.options; rest != ""; {
		var first string
		if first, rest, _ = strings.Cut(rest, ","); first == option {
			return true
		}
	}
	return false
}

func isStruct(kind reflect.Type) bool {
	return kind.Kind() == reflect.Struct || kind.Kind() == reflect.Pointer && kind.Elem().Kind() == reflect.Struct
}
