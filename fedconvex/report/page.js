"use strict";

// the list of statements: find, choose, sort, open
const part = (name) => document.getElementById(name);
const list = part("list");
const statements = [...list.children];
const words = new Map();
const wordsOf = (one) => {
  if (!words.has(one)) words.set(one, one.textContent.toLowerCase());
  return words.get(one);
};
const fits = (one, sought) => {
  const { paper, verdict } = one.dataset;
  const wanted = part("verdict").value;
  return (!part("paper").value || paper === part("paper").value)
    && (!wanted || verdict === wanted || (wanted === "misprinted" && "misprinted" in one.dataset))
    && sought.every((word) => wordsOf(one).includes(word));
};
const choose = () => {
  const phrase = part("find").value.toLowerCase().trim();
  const isFound = statements.some((one) => wordsOf(one).includes(phrase));
  const sought = isFound ? [phrase] : phrase.split(/\s+/);  // else its words, wherever they stand
  for (const one of statements) one.hidden = !fits(one, sought);
  const shown = statements.filter((one) => !one.hidden).length;
  part("count").value = `${shown} of ${statements.length} statements`;
};
for (const name of ["find", "paper", "verdict"]) part(name).addEventListener("input", choose);
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());

const heads = [...document.querySelectorAll("[data-sort]")];
const isNumber = new Set(["place", "steps", "used", "loose"]);
for (const head of heads) head.addEventListener("click", () => {
  const key = head.dataset.sort;
  const again = head.getAttribute("aria-pressed") === "true";
  const down = again ? !head.classList.contains("down") : key !== "place" && isNumber.has(key);
  for (const other of heads) other.setAttribute("aria-pressed", String(other === head));
  head.classList.toggle("down", down);
  const sign = down ? -1 : 1;
  const compare = (a, b) => {
    const [one, other] = [a.dataset[key], b.dataset[key]];
    if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1);  // without a value: last, either way
    return sign * (isNumber.has(key) ? one - other : one.localeCompare(other)) || a.dataset.place - b.dataset.place;
  };
  list.append(...[...statements].sort(compare));
});

part("open-all").addEventListener("click", (event) => {
  const opened = event.target.textContent === "open all";
  for (const one of statements) if (!one.hidden || !opened) one.open = opened;
  event.target.textContent = opened ? "close all" : "open all";
});

const unfold = () => {
  const one = part(decodeURIComponent(location.hash.slice(1)));
  if (!one || !one.matches("details")) return;
  if (one.hidden) {
    for (const name of ["find", "paper", "verdict"]) part(name).value = "";
    choose();
  }
  one.open = true;
  one.scrollIntoView();
};
addEventListener("hashchange", unfold);
document.addEventListener("click", (event) => {  // a link to where one already is
  const link = event.target.closest("a");
  if (link && link.hash === location.hash) unfold();
});
unfold();

// pictures: the point nearest to the pointer, or the next by the arrow keys, tells its numbers
for (const picture of document.querySelectorAll("svg.plot")) {
  const place = (dot, axis) => Number(dot.getAttribute(axis));
  const dots = [...picture.querySelectorAll("circle")];
  dots.sort((a, b) => place(a, "cx") - place(b, "cx") || place(a, "cy") - place(b, "cy"));
  const told = picture.closest("figure").querySelector("output");
  let current = -1;
  const tell = (index) => {
    dots[current]?.classList.remove("on");
    current = index;
    dots[current].classList.add("on");
    told.value = dots[current].textContent;
  };
  const nearest = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    const distances = dots.map((dot) => Math.hypot(place(dot, "cx") - at.x, place(dot, "cy") - at.y));
    tell(distances.indexOf(Math.min(...distances)));
  };
  picture.addEventListener("pointermove", nearest);
  picture.addEventListener("pointerdown", nearest);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    tell(current === -1 ? 0 : (current + step + dots.length) % dots.length);
  });
}
