"use strict";
// Rank what Sphinx's search finds: headings that have the words of a question, and pages with most of its words when no
// page has all; decisions, studies, figures and generated lists come after the pages that explain. Loaded on each page, and used
// by search.html only.
(() => {
  const BACKGROUND = /^(decisions|study|project|genindex|operate\/performance|reference\/(rest|sdk|protocols))/;
  const ENOUGH = 5;
  // Words of questions that name no subject.
  const EMPTY = ["equivalent", "way", "want", "need", "possible", "zoe"];

  const subjects = (terms) => {
    const stemmer = new Stemmer();
    const empty = new Set(EMPTY.map((word) => stemmer.stemWord(word)));
    const left = new Set([...terms].filter((term) => !empty.has(term)));
    return left.size > 0 ? left : terms;
  };

  const filesOf = (term) => [Search._index.terms[term] ?? []].flat();

  const weights = (terms) => {
    const pages = Search._index.docnames.length;
    return new Map([...terms].map((term) => [term, Math.log((pages + 1) / (filesOf(term).length + 1)) + 0.1]));
  };

  const sum = (numbers) => [...numbers].reduce((total, number) => total + number, 0);

  const result = (file, title, anchor, score) => {
    const { docnames, filenames } = Search._index;
    return [docnames[file], title, anchor, null, score, filenames[file], SearchResultKind.title];
  };

  // Headings by the share of the question that they answer, rare words counting more.
  const headings = (terms) => {
    const stemmer = new Stemmer();
    const weight = weights(terms);
    const whole = sum(weight.values());
    const found = [];
    for (const [heading, places] of Object.entries(Search._index.alltitles)) {
      const words = splitQuery(heading.toLowerCase()).filter((word) => !stopwords.has(word));
      const stems = new Set(words.map((word) => stemmer.stemWord(word)));
      const matched = [...terms].filter((term) => stems.has(term));
      if (matched.length === 0) continue;
      const coverage = sum(matched.map((term) => weight.get(term))) / whole;
      const score = 50 * coverage * coverage * (0.5 + (0.5 * matched.length) / stems.size);
      for (const [file, id] of places) {
        const page = Search._index.titles[file];
        const title = page === heading ? page : `${page} > ${heading}`;
        found.push(result(file, title, id === null ? "" : `#${id}`, score));
      }
    }
    return found;
  };

  // Pages with a part of the words, rare words counting more.
  const mostWords = (terms) => {
    const weight = weights(terms);
    const whole = sum(weight.values());
    const scores = new Map();
    for (const term of terms)
      for (const file of filesOf(term)) scores.set(file, (scores.get(file) ?? 0) + weight.get(term));
    return [...scores]
      .filter(([, score]) => score >= whole / 2)
      .map(([file, score]) => result(file, Search._index.titles[file], "", (4 * score) / whole));
  };

  document.addEventListener("DOMContentLoaded", () => {
    if (typeof Search === "undefined") return;
    Scorer.score = ([page, , , , score]) => (BACKGROUND.test(page) ? score / 4 : score);
    const allWords = Search.performTermsSearch;
    Search.performTermsSearch = (asked, excluded) => {
      const terms = subjects(asked);
      const pages = allWords(terms, excluded);
      return [...headings(terms), ...pages, ...(pages.length < ENOUGH ? mostWords(terms) : [])];
    };
  });
})();
