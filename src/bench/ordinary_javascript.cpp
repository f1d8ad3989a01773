#include <array>

#include "bench/ordinary_code.hpp"

namespace skerry::bench {
namespace {

constexpr auto kParts = std::to_array<std::string_view>({
    R"code('use strict';
// The service that shows the figures of the branches.
const path = require('path');
const { readFileSync, existsSync } = require('node:fs');
const express = require('express');
const _ = require('lodash');

const app = express();
const DEFAULT_LIMIT = __NUMBER__;
const datePattern = /^(\d{4})-(\d{2})(?:-(\d{2}))?$/;
)code",
    R"code(
/**
 * Groups __NOUN__s by their __OTHER__.
 * @param {Array<{id: number, __OTHER__: string}>} rows
 */
function __VERB_____NOUN__s___INDEX__(rows, { limit = DEFAULT_LIMIT, key = '__OTHER__' } = {}) {
  const groups = new Map();
  for (const [index, row] of rows.entries()) {
    if (index >= limit) break; // the rest comes with the next page
    if (!row || row.status === 'deleted') continue;
    const list = groups.get(row[key]) ?? [];
    list.push({ ...row, position: index });
    groups.set(row[key], list);
  }
  return Object.fromEntries([...groups].sort(([a], [b]) => a.localeCompare(b)));
}
)code",
    R"code(
class __NOUN__Store__INDEX__ extends Map {
  #expires = Date.now() + __NUMBER__ * 1000;
  static defaults = { pageSize: 20, order: 'name' };

  constructor(folder, options = {}) {
    super();
    this.folder = path.join(folder, '__NOUN__s');
    this.options = { ...__NOUN__Store__INDEX__.defaults, ...options };
  }

  get expired() {
    return this.#expires < Date.now();
  }

  __VERB__(name) {
    if (this.has(name) && !this.expired) return this.get(name);
    const file = path.join(this.folder, `${name}.json`);
    if (!existsSync(file)) return undefined;
    const value = JSON.parse(readFileSync(file, 'utf8'));
    this.set(name, value);
    return value;
  }
}
)code",
    R"code(
async function fetch__OTHER__s__INDEX__(client, names, retries = 3) {
  const results = [];
  for (const name of names) {
    for (let attempt = 1; attempt <= retries; attempt++) {
      try {
        const response = await client.get(`/__OTHER__s/${encodeURIComponent(name)}?page=${attempt}&limit=__NUMBER__`);
        results.push(...response.data.items.filter((item) => item.amount > 0));
        break;
      } catch (error) {
        console.warn('__OTHER__ %s failed: %s', name, error.message);
        if (attempt === retries) throw new Error(`no answer for "${name}" after ${retries} attempts`);
      }
    }
  }
  return results.map(({ id, amount, ...rest }) => ({ id, amount: Math.round(amount * 100) / 100, rest }));
}
)code",
    R"code(
app.get('/__NOUN__s/__INDEX__/:id', async (request, response, next) => {
  const { id } = request.params;
  const match = datePattern.exec(request.query.since || '2024-01-01');
  if (!match) {
    response.status(400).json({ error: "'since' must be a date", id });
    return;
  }
  const since = new Date(Number(match[1]), Number(match[2]) - 1, match[3] ? +match[3] : 1);
  try {
    const found = await app.locals.database.collection('__NOUN__').find({ id, created: { $gte: since } }).toArray();
    response.json({ count: found.length, items: found.slice(0, __NUMBER__) });
  } catch (error) {
    next(error);
  }
});
)code",
    R"code(
const __NOUN__Statistics__INDEX__ = (values) => {
  // An empty series has no mean.
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  const mean = sum / values.length;
  const variance = values.map((value) => (value - mean) ** 2).reduce((a, b) => a + b, 0) / values.length;
  const sorted = [...values].sort((a, b) => a - b);
  const quantile = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { sum, mean, deviation: Math.sqrt(variance), median: quantile(0.5), p95: quantile(0.95), max: sorted.at(-1) };
};
)code",
    R"code(
function render__OTHER__Table__INDEX__(rows, locale = 'en') {
  const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 });
  const header = ['Name', '__NOUN__', "Owner's share", 'Total'].map((title) => `<th>${title}</th>`).join('');
  const body = _.chain(rows)
    .filter((row) => typeof row.total === 'number' && !Number.isNaN(row.total))
    .orderBy(['total', 'name'], ['desc', 'asc'])
    .take(__NUMBER__)
    .map((row) => [_.escape(row.name), row.__NOUN__ ?? '-', format.format(row.total)])
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .value();
  switch (body.length) {
    case 0:
      return '<p>Nothing to show.</p>';
    case 1:
      return body[0];
    default:
      return `<table class="__OTHER__"><thead><tr>${header}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
  }
}
)code",
    R"code(
/**
 * Brings the rows of a __NOUN__ into the form that the table wants.
 *
 * The rows come as the server sends them: one for each __NOUN__ and day, with the figures in the order of the
 * columns. A row that has no figure at all is a heading and is passed over. A row that has too few of them is
 * taken as far as it goes, because the server leaves out what is empty at the end.
 *
 * Two rows of the same name are not added up here: the first one of a day is the one that was signed, and later
 * ones are corrections, which the __OTHER__ department books by itself at the end of the month.
 *
 * @param {Array<Array<string>>} rows What was fetched. It is gone through once and stays as it is.
 * @param {number} [limit] At most so many rows are given back, __NUMBER__ where nothing else is said.
 * @returns {Array<object>} The name of the __OTHER__, its figures, and whether they were complete.
 */
const __VERB____NOUN__Rows__INDEX__ = (rows, limit = __NUMBER__) =>
  rows.filter((row) => row.length > 1).slice(0, limit).map(([name, ...figures]) => ({ name, figures }));
)code",
    R"code(
// The state of a __NOUN__ is kept apart from what is shown of it. The list can be sorted, filtered and folded
// without a word to the server, and what was typed into a field is still there when the person comes back to it
// from the view of the __OTHER__. It is given up when the page is left for good, or after __NUMBER__ minutes, whichever
// comes first; see the notes on sessions for the reasons, and for the cases in which that is too early.
let state__NOUN____INDEX__ = { sorted: null, folded: new Set() };
)code",
});

}  // namespace

std::span<const std::string_view> JavaScriptParts() {
  return kParts;
}

}  // namespace skerry::bench
