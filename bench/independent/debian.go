package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// manualPackages have manual pages in English with a NAME section.
var manualPackages = []string{
	"manpages", "manpages-dev", "perl-doc", "tcl8.6-doc", "tk8.6-doc", "libssl-doc", "git-man", "zsh-doc", "libcurl4-doc", "libxml2-utils",
	"coreutils", "util-linux", "procps", "systemd", "openssh-client", "postgresql-client-15", "qemu-utils", "ffmpeg", "imagemagick-6-common", "groff",
	"libncurses-dev", "libx11-doc", "xorg-docs-core", "libpcap0.8-dev", "libevent-dev", "libarchive-dev", "netpbm", "texlive-binaries",
}

// deb fetches a package of the machine's Debian release.
func (s *store) deb(ctx context.Context, name string) (string, error) {
	return s.fetch(ctx, name+"_*.deb", "apt-get", "download", name)
}

// debVersion is what the origin says of a fetched package.
func debVersion(path string) string {
	name, rest, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".deb"), "_")
	version, _, _ := strings.Cut(rest, "_")
	return name + " " + strings.ReplaceAll(version, "%3a", ":")
}

// files calls visit with every regular file of a package whose path matches, in the package's order.
func files(ctx context.Context, deb string, match *regexp.Regexp, visit func(path string, data []byte) error) error {
	content, err := output(ctx, filepath.Dir(deb), "dpkg-deb", "--fsys-tarfile", deb)
	if err != nil {
		return err
	}
	r := tar.NewReader(bytes.NewReader(content))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", deb, err)
		}
		if h.Typeflag != tar.TypeReg || !match.MatchString(h.Name) {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if strings.HasSuffix(h.Name, ".gz") {
			zip, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return fmt.Errorf("%s: %w", h.Name, err)
			}
			if data, err = io.ReadAll(zip); err != nil {
				return fmt.Errorf("%s: %w", h.Name, err)
			}
		}
		if err := visit(h.Name, data); err != nil {
			return err
		}
	}
}

// descriptions makes a collection of the long descriptions of Debian's packages; the short description finds the long
// one. Of the packages of one source only the first is taken: the others' texts differ in a word or two.
func descriptions(ctx context.Context, s *store) ([]*set, error) {
	lists := filepath.Join(s.dir, "lists")
	if err := os.MkdirAll(filepath.Join(lists, "partial"), 0o755); err != nil {
		return nil, err
	}
	options := []string{"-o", "Dir::State::lists=" + lists, "-o", "Acquire::Languages=en"}
	pattern := "lists/*_main_i18n_Translation-en*"
	if _, err := s.fetch(ctx, pattern, append([]string{"apt-get", "update"}, options...)...); err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(s.dir, pattern))
	if err != nil {
		return nil, err
	}
	translation, err := output(ctx, s.dir, append([]string{"/usr/lib/apt/apt-helper", "cat-file"}, paths...)...)
	if err != nil {
		return nil, err
	}
	available, err := output(ctx, s.dir, append([]string{"apt-cache", "dumpavail"}, options...)...)
	if err != nil {
		return nil, err
	}
	source := map[string]string{}
	for stanza := range strings.SplitSeq(string(available), "\n\n") {
		if name := field(stanza, "Package"); name != "" {
			from, _, _ := strings.Cut(field(stanza, "Source"), " ")
			source[name] = from
		}
	}
	c := &set{
		name: "debian-descriptions", packages: []string{"the package lists of a Debian release, main"},
		about: "Document: the long description of a Debian package, one of each source package. Query: its short description. Relevant: the one document.",
	}
	short, taken := map[string]string{}, map[string]bool{}
	for stanza := range strings.SplitSeq(string(translation), "\n\n") {
		name := field(stanza, "Package")
		from := source[name]
		if from == "" {
			from = name
		}
		_, description, found := strings.Cut("\n"+stanza, "\nDescription-en: ")
		title, long, _ := strings.Cut(description, "\n")
		long = oneLine(strings.ReplaceAll(long, "\n .", "\n"))
		if !found || taken[from] || long == "" {
			continue
		}
		taken[from] = true
		c.documents = append(c.documents, document{ID: name, Text: long})
		short[name] = oneLine(title)
	}
	c.queries = knownItems(short)
	return []*set{c}, nil
}

// field is the first line of a field of a control stanza, empty if there is none.
func field(stanza, name string) string {
	_, value, _ := strings.Cut("\n"+stanza, "\n"+name+": ")
	value, _, _ = strings.Cut(value, "\n")
	return value
}

var manualPath = regexp.MustCompile(`/usr/share/man/man[0-9][^/]*/[^/]+\.gz$`)

// manualPages makes a collection of manual pages without their NAME sections; what NAME says finds the page.
func manualPages(ctx context.Context, s *store) ([]*set, error) {
	c := &set{
		name:  "manual-pages",
		about: "Document: a manual page without its NAME section. Query: what NAME says the page is about. Relevant: the one document.",
	}
	about, seen := map[string]string{}, map[string]bool{}
	for _, name := range manualPackages {
		deb, err := s.deb(ctx, name)
		if err != nil {
			return nil, err
		}
		c.packages = append(c.packages, debVersion(deb))
		err = files(ctx, deb, manualPath, func(path string, data []byte) error {
			id := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(path), ".gz"), " ", "_")
			name, body := manualPage(string(data))
			if name == "" || body == "" || seen[id] {
				return nil
			}
			seen[id], about[id] = true, name
			c.documents = append(c.documents, document{ID: id, Text: body})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	c.queries = knownItems(about)
	return []*set{c}, nil
}

var (
	sectionName = regexp.MustCompile(`(?im)^\.S[hH]\s+"?NAME"?\s*$`)
	sectionNext = regexp.MustCompile(`(?m)^\.S[hH]\s`)
	dash        = regexp.MustCompile(`\s(?:-+|–|—)\s`)
)

// manualPage takes the description out of a page's NAME section, and the text after that section.
func manualPage(roff string) (about, body string) {
	start := sectionName.FindStringIndex(roff)
	if start == nil {
		return "", ""
	}
	rest := roff[start[1]:]
	end := sectionNext.FindStringIndex(rest)
	if end == nil {
		return "", ""
	}
	name, body := rest[:end[0]], rest[end[0]:]
	if _, described, found := strings.Cut(name, "\n.Nd "); found {
		return oneLine(roffText(described)), roffText(body)
	}
	name = oneLine(roffText(name))
	if at := dash.FindStringIndex(name); at != nil {
		return strings.TrimSpace(name[at[1]:]), roffText(body)
	}
	return "", ""
}

var (
	// Requests whose arguments are no text, and those of Pod::Man's index.
	notText   = regexp.MustCompile(`^\.\s*(?:\\"|'|TH|Dd|Dt|Os|so|ds|de|nr|if|ie|el|tr|ad|na|nh|hy|in|ti|ta|ps|ft|sp|ne|mso|IX|Vb|Ve|PD|RS|RE|IP\s*$|TP|PP|nf|fi|br|EX|EE|ll|lf|am|als|rm|rr|UE|ME)\b`)
	request   = regexp.MustCompile(`^[.']\s*[A-Za-z]*\s*`)
	escapes   = regexp.MustCompile(`\\(?:f(?:\[[^\]]*\]|\(..|.)|s[-+]?\d+|m\[[^\]]*\]|[&|^%/,:c!)]|\*(?:\[[^\]]*\]|\(..|.))`)
	letters   = regexp.MustCompile(`\\(?:\(..|\[[^\]]*\])`)
	quotes    = regexp.MustCompile(`\\\*\((?:Aq|L"|R"|C'|C` + "`" + `)`)
	comments  = regexp.MustCompile(`\\".*`)
	namedChar = strings.NewReplacer(`\(aq`, "'", `\(cq`, "'", `\(oq`, "'", `\(lq`, `"`, `\(rq`, `"`, `\(dq`, `"`, `\(en`, "-", `\(em`, " - ", `\(hy`, "-", `\(mi`, "-", `\[char46]`, ".", `\(co`, "(c)", `\(bu`, " ")
)

// roffText is the text of a page: macros are dropped and their arguments kept where they are text. Tables and equations
// come out as they stand.
func roffText(roff string) string {
	var out strings.Builder
	for line := range strings.Lines(roff) {
		line = strings.TrimRight(line, "\n")
		line = comments.ReplaceAllString(line, "")
		if notText.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = strings.ReplaceAll(request.ReplaceAllString(line, ""), `"`, "")
		}
		line = quotes.ReplaceAllString(line, "'")
		line = namedChar.Replace(line)
		line = letters.ReplaceAllString(line, " ")
		line = escapes.ReplaceAllString(line, "")
		line = strings.NewReplacer(`\-`, "-", `\e`, `\`, `\ `, " ", `\~`, " ", `\0`, " ", `\'`, "'", "\\`", "`", `\.`, ".").Replace(line)
		if line = strings.TrimSpace(line); line != "" {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	return strings.TrimSpace(out.String())
}

var (
	faqPath     = regexp.MustCompile(`/perlfaq[1-9]\.1\.gz$`)
	faqQuestion = regexp.MustCompile(`(?m)^\.SS (.*)$`)
)

// perlFAQ makes a collection of the answers of Perl's frequently asked questions; the question finds the answer.
func perlFAQ(ctx context.Context, s *store) ([]*set, error) {
	deb, err := s.deb(ctx, "perl-doc")
	if err != nil {
		return nil, err
	}
	c := &set{
		name: "perlfaq", packages: []string{debVersion(deb)},
		about: "Document: an answer of Perl's frequently asked questions. Query: its question. Relevant: the one document.",
	}
	questions := map[string]string{}
	err = files(ctx, deb, faqPath, func(path string, data []byte) error {
		_, text, _ := strings.Cut(string(data), "\n.SH ")
		at := faqQuestion.FindAllStringSubmatchIndex(text, -1)
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			// The copyright of a part's authors follows its last answer.
			answer, _, _ := strings.Cut(text[m[1]:end], "\n.SH ")
			id := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(path), ".1.gz"), i+1)
			questions[id] = oneLine(roffText("." + "SS " + text[m[2]:m[3]]))
			c.documents = append(c.documents, document{ID: id, Text: roffText(answer)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.queries = knownItems(questions)
	return []*set{c}, nil
}
