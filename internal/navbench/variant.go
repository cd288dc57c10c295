package navbench

import (
	"time"

	"goserini/internal/controller"
)

// Variant is a way the tools can be set.
type Variant struct {
	Name    string
	Options controller.Options
}

// WithPassages is the navigator with the part passages, which is in no profile.
const WithPassages = "navigator with passages"

// Variants are the paper's tools, the navigator's, the paper's with each part of the
// navigator alone, and the navigator's with passages.
func Variants() ([]Variant, error) {
	var variants []Variant
	for _, name := range controller.Profiles() {
		options, err := controller.Profile(name)
		if err != nil {
			return nil, err
		}
		variants = append(variants, Variant{name, options})
	}
	for _, part := range controller.PartNames() {
		if part == controller.NotebookPart || part == controller.VerifyPart {
			continue // no reader here takes notes or is asked to check an answer
		}
		nav, err := controller.ParseNavigator(part)
		if err != nil {
			return nil, err
		}
		variants = append(variants, Variant{part + " alone", controller.Options{Navigator: nav}})
	}
	all, err := controller.Profile("navigator")
	if err != nil {
		return nil, err
	}
	all.Navigator.Passages = true
	variants = append(variants, Variant{WithPassages, all})
	for i := range variants {
		variants[i].Options.Budget = fixedBudget
	}
	return variants, nil
}

// fixedBudget makes a budget line of the usual length that does not depend on the clock.
func fixedBudget() controller.Budget {
	return controller.Budget{TimeLeft: 143 * time.Second, Time: 210 * time.Second}
}
