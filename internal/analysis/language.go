package analysis

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/irish"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/tamil"
	"github.com/blevesearch/snowballstem/turkish"
)

// language is what an analyzer for one language adds to the tokenizer of cjk.
type language struct {
	name string
	// stop holds the words that are dropped, with spaces between them.
	stop string
	// elided holds the words that may stand before an apostrophe and are dropped with it.
	elided string
	stem   func(*snowballstem.Env) bool
	// lower is nil for Unicode's usual lower case.
	lower func(rune) rune
	// fold says that marks are dropped before all else.
	fold bool
}

var languages = []language{
	{name: "arabic", stem: arabic.Stem, fold: true,
		stop: "في من على الى عن مع هذا هذه ذلك تلك التي الذي الذين ان انه انها كان كانت قد لا ما لم لن و او ثم بل هو هي هم نحن انا كل بعد قبل بين حتي عند غير كما اذا"},
	{name: "danish", stem: danish.Stem,
		stop: "og i at det en den til er som på de med han af for ikke der var mig sig men et har om vi min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind når være dog noget ville jo deres efter ned skulle denne end dette mit også under have dig"},
	{name: "dutch", stem: dutch.Stem,
		stop: "de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog zal me zij nu ge geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus"},
	{name: "finnish", stem: finnish.Stem,
		stop: "ja on ei se että oli hän joka ovat mutta kun tai sen niin kuin myös ole olla en et eivät emme minä sinä me te he tämä nämä tuo nuo ne mikä kuka jos koska vaan sekä vai nyt jo vielä"},
	{name: "french", stem: french.Stem,
		elided: "l d qu j m t s n c jusqu lorsqu puisqu quoiqu",
		stop:   "le la les un une des de du au aux et ou où à en dans par pour sur avec sans sous ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs je tu il elle on nous vous ils elles que qui quoi dont ne pas plus se me te lui y est sont été être était a ont avait avoir mais donc car si comme"},
	{name: "german", stem: german.Stem,
		stop: "der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf aus bei bis durch für gegen im in ins ist sind war waren wird werden wurde hat haben hatte ich du er sie es wir ihr ihm ihn ihnen mich mir dich dir sich mein dein sein unser kein keine mit nach nicht noch nur ob ohne so über um unter vom von vor wie wenn weil zu zum zur dass daß dieser diese dieses man was wer wo da dann denn doch"},
	{name: "hungarian", stem: hungarian.Stem,
		stop: "a az és egy hogy nem is de ha meg már csak még el ez ezt azt volt van vagy mint ki be fel le mert én te ő mi ti ők sem pedig aki ami amely akkor itt ott lesz lett voltak vannak minden után"},
	{name: "irish", stem: irish.Stem,
		stop: "a ag agus an ar as ba go i is le na ní nó ó sa sé sí siad tá do de faoi gur idir mar nach"},
	{name: "italian", stem: italian.Stem,
		elided: "l un d c m t s v n dell all dall nell sull quest quell coll anch",
		stop:   "il lo la i gli le un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla ai agli alle dal dalla dai dalle nel nella nei nelle sul sulla sui sulle e ed o ma se che chi cui non più io tu lui lei noi voi loro mi ti si ci vi è sono era erano ha hanno aveva questo questa quello quella come anche"},
	{name: "norwegian", stem: norwegian.Stem,
		stop: "og i jeg det at en et den til er som på de med han av ikke der så var meg seg men har om vi min mitt ha hadde hun nå over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv her alle vil ble kunne inn når være noe ville ei hver hvem etter mot å dette"},
	{name: "portuguese", stem: portuguese.Stem,
		stop: "o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem sob sobre e ou mas que se não mais ao aos à às eu tu ele ela nós eles elas me te lhe seu sua seus suas meu minha este esta esse essa aquele aquela isso isto é são foi era ser está há como quando muito já também"},
	{name: "romanian", stem: romanian.Stem,
		stop: "și şi în la de pe cu din un o este sunt a al ai ale că ca nu se mai sau dar pentru prin după fi fost era au am ar care ce el ea ei ele eu tu noi voi lui lor acest această acesta aceasta cel cea cei cele între până fără"},
	{name: "russian", stem: russian.Stem,
		stop: "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от меня еще ещё нет о об из ему ли если уже или ни быть был него до вас нибудь для мы их чем была сам чтоб без их этот эта это эти который при"},
	{name: "spanish", stem: spanish.Stem,
		stop: "el la los las un una unos unas de del a al en y e o u que se no con por para sin sobre entre su sus mi mis tu tus lo le les me te nos yo él ella ellos ellas es son fue era ser está han ha hay como más pero si ya muy este esta estos estas ese esa esto eso cuando también donde"},
	{name: "swedish", stem: swedish.Stem,
		stop: "och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig du henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när efter upp vi dem vara vad över än dig kan sina här ha mot alla under någon eller allt mycket sedan denna detta"},
	{name: "tamil", stem: tamil.Stem},
	{name: "turkish", stem: turkish.Stem, lower: turkishLower,
		stop: "ve bir bu da de için ile o ne çok ama ya mi mı mu mü ki gibi daha en kadar olan olarak var yok ise her şu ben sen biz siz onlar ya hem veya ancak sonra önce"},
}

// chain makes the analyzer of a language.
func (l language) chain() *chain {
	stop := map[string]bool{}
	for word := range strings.FieldsSeq(l.stop) {
		stop[string(l.spell([]byte(word)))] = true
	}
	elided := map[string]bool{}
	for word := range strings.FieldsSeq(l.elided) {
		elided[word] = true
	}
	return &chain{
		name:      l.name,
		unspaced:  true,
		tokenizer: func() Tokenizer { return &mixedTokenizer{words: standardTokenizer{lower: l.lower}} },
		normalize: func(dst, raw []byte) ([]byte, bool) {
			word := trimElided(l.spell(dropInvisible(nil, raw)), elided)
			if len(word) == 0 || stop[string(word)] {
				return dst, false
			}
			stem := snowballstem.NewEnv(string(word))
			l.stem(stem)
			return append(dst, stem.Current()...), stem.Current() != ""
		},
	}
}

// spell gives a word its one spelling.
func (l language) spell(word []byte) []byte {
	if l.fold {
		return appendFolded(nil, word)
	}
	return word
}

func turkishLower(r rune) rune { return unicode.TurkishCase.ToLower(r) }

// trimElided removes a short form such as l’ from the start of a word.
func trimElided(word []byte, elided map[string]bool) []byte {
	for _, apostrophe := range []string{"'", "\u2019"} {
		before, after, ok := bytes.Cut(word, []byte(apostrophe))
		if ok && elided[string(before)] && len(after) > 0 {
			return after
		}
	}
	return word
}
