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
		args := []reflect.Value{reflect.ValueOf(text)}
		for k := 1; k < lazy.Method(i).Type().NumIn(); k++ {
			switch in := lazy.Method(i).Type().In(k); in.Kind() {
			case reflect.Int:
				args = append(args, reflect.ValueOf(2))
			case reflect.Func:
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
