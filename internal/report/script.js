"use strict";
(() => {
  // Every packed block holds the full text of some cards, in order, parted by U+0000.
  const packs = [...document.querySelectorAll("script[data-card]")].map((el) => ({
    el, prefix: el.dataset.run, first: +el.dataset.card, count: +el.dataset.count, text: null,
  }));
  const unpack = (pack) => pack.text ??= (async () => {
    const bytes = Uint8Array.from(atob(pack.el.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return (await new Response(stream).text()).split("\0");
  })();
  const filled = new Map();
  const fill = (card) => {
    if (!filled.has(card)) filled.set(card, load(card));
    return filled.get(card);
  };
  const load = async (card) => {
    const [, prefix, number] = /^(.*q)(\d+)$/.exec(card.id);
    const pack = packs.find((p) => p.prefix === prefix && number >= p.first && number < p.first + p.count);
    if (!pack || !("DecompressionStream" in window)) return;
    // The text was escaped when it was written, and the page's policy lets nothing in it run.
    card.querySelector(".body").innerHTML = (await unpack(pack))[number - pack.first];
    card.classList.add("full");
  };
  document.addEventListener("toggle", (e) => {
    if (e.target.matches("details.q") && e.target.open) fill(e.target);
  }, true);

  // A link to a place inside a card opens the card first.
  let hit;
  const go = async () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const card = document.getElementById(/^(?:r\d+)?q\d+/.exec(id)?.[0]);
    if (!card) return;
    await fill(card);
    const place = document.getElementById(id) ?? card;
    for (let el = place; el; el = el.parentElement) if (el.tagName === "DETAILS") el.open = true;
    hit?.classList.remove("hit");
    if (place !== card) (hit = place).classList.add("hit");
    place.scrollIntoView({block: place === card ? "start" : "center"});
  };
  addEventListener("hashchange", go);
  addEventListener("click", (e) => {
    const link = e.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) go();
  });
  go();

  for (const form of document.querySelectorAll(".filter")) {
    const cards = [...form.parentElement.querySelectorAll("details.q")];
    const [input, select, output] = ["input", "select", "output"].map((s) => form.querySelector(s));
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const card of cards) {
        const summary = card.firstElementChild;
        const text = summary.textContent.toLowerCase();
        card.hidden = !words.every((w) => text.includes(w)) || select.value !== "" && summary.querySelector("i").textContent !== select.value;
        shown += !card.hidden;
      }
      output.textContent = shown === cards.length ? "" : `${shown} of ${cards.length}`;
    };
    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (e) => e.preventDefault());
  }
})();
