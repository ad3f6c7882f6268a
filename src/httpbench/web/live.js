// Keep the page of a run in progress up to date, and reload it when the run ends. Without scripts, the page reloads itself.
"use strict";
{
  const results = document.getElementById("results");
  const state = document.getElementById("state");
  const source = new EventSource(results.dataset.events);
  source.addEventListener("state", (event) => {
    state.textContent = event.data;
  });
  source.addEventListener("results", (event) => {
    // The server has already escaped this HTML, like the rest of the page.
    const open = [...results.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    results.innerHTML = event.data;
    for (const one of results.querySelectorAll("details > summary")) {
      one.parentElement.open = open.includes(one.textContent);
    }
  });
  source.addEventListener("end", () => {
    source.close();
    location.reload();
  });
}
