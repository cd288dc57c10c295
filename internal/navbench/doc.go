// Package navbench measures, without any language model, how much of the evidence the tools
// show: the paper's tools against the navigator's and against each part of it alone.
//
//	c, err := navbench.Load(b, ix, navbench.Setting{Params: params, Reason: reason}, 0)
//	report, err := navbench.Measure(ctx, c, navbench.Variants(), navbench.Options{})
//	fmt.Print(navbench.Markdown([]navbench.Report{report}, "goserini bench navigation …"))
//
// Everything is measured on the text that the tools return, through their own calls. A
// token is four bytes of it.
package navbench
