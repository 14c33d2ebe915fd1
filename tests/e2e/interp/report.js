// SPDX-License-Identifier: Apache-2.0
// Makes reports of a log for some seconds of CPU time: report.js SECONDS.
'use strict';

class Report {
  constructor() {
    this.log = Array.from({ length: 2000 }, (_, i) => `10.0.0.${i % 50} GET /page/${i % 17} ${i * 37 % 900}`);
  }

  parse(line) {
    return line.match(/(\S+) (\w+) (\S+) (\d+)/);
  }

  count() {
    const pages = new Map();
    for (const line of this.log) {
      const [, , , page, ms] = this.parse(line);
      const row = pages.get(page) || { page, calls: 0, total: 0 };
      row.calls++;
      row.total += Number(ms);
      pages.set(page, row);
    }
    return pages;
  }

  mean(row) {
    return row.total / row.calls;
  }

  slowestFirst(pages) {
    let rows = [];
    for (let i = 0; i < 100; i++) {
      rows = [...pages.values()].sort((a, b) => this.mean(b) - this.mean(a));
    }
    return rows;
  }

  render(rows) {
    let text = '';
    for (let i = 0; i < 30; i++) {
      for (const row of rows) {
        text += `<tr><td>${row.page}</td><td>${row.calls}</td><td>${row.total.toFixed(1)}</td></tr>`;
      }
    }
    return text.length;
  }

  make() {
    return this.render(this.slowestFirst(this.count()));
  }
}

const report = new Report();
while (process.cpuUsage().user < 1e6 * Number(process.argv[2])) report.make();
