package lazyregexp

import (
	"reflect"
	"regexp"
	"testing"
)

func TestMethodsAreThoseOfTheCompiledExpression(t *testing.T) {
	const str, text = `(b+)(c)?`, "abbc abd bc"
	lazy, plain := reflect.ValueOf(New(str)), reflect.ValueOf(regexp.MustCompile(str))
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		var args []reflect.Value
		for k := range lazy.Method(i).Type().NumIn() {
			switch in := lazy.Method(i).Type().In(k); {
			case k == 0:
				args = append(args, reflect.ValueOf(text).Convert(in))
			case in.Kind() == reflect.Int:
				args = append(args, reflect.ValueOf(2))
			case in.Kind() == reflect.Func:
				args = append(args, reflect.ValueOf(func(s string) string { return "<" + s + ">" }))
			default:
				args = append(args, reflect.ValueOf("$1-").Convert(in))
			}
		}
		got, want := lazy.Method(i).Call(args)[0].Interface(), plain.MethodByName(name).Call(args)[0].Interface()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

func TestWrongExpressionsAreFoundByTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New("(")
}
