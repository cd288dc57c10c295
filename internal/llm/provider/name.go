package provider

import (
	"fmt"
	"slices"
	"strings"
)

// Name is a model as a user writes it.
type Name struct {
	// Provider is the part before the first slash, or the first colon where no slash comes before it.
	Provider string
	// Model is the provider's own name and may hold further slashes and colons.
	Model string
	// Effort is what follows a last @, where it is a word for effort.
	Effort string
}

// efforts are the words that may follow a model's name after an @.
var efforts = []string{"none", "off", "minimal", "low", "medium", "high", "xhigh", "max"}

// Parse reads provider/model, provider:model, and either with @effort.
func Parse(name string) (Name, error) {
	at := strings.IndexAny(name, "/:")
	if at <= 0 || at == len(name)-1 {
		return Name{}, fmt.Errorf("model %q: want PROVIDER/MODEL, for example deepseek/deepseek-v4-flash", name)
	}
	n := Name{Provider: name[:at], Model: name[at+1:]}
	if i := strings.LastIndexByte(n.Model, '@'); i > 0 && slices.Contains(efforts, n.Model[i+1:]) {
		n.Model, n.Effort = n.Model[:i], n.Model[i+1:]
	}
	return n, nil
}

// String is the form with a slash, without effort, that records and price tables use.
func (n Name) String() string { return n.Provider + "/" + n.Model }
