'use strict';
// A progress bar on a terminal; nothing anywhere else.

const WIDTH = 30;
const PAUSE = 100;

class Progress {
  constructor(stream, wanted) {
    this.stream = stream;
    this.shown = wanted && stream.isTTY === true;
    this.drawnAt = 0;
    this.drawn = false;
  }

  /** Draws at most ten times a second, and the end. */
  update(label, done, total) {
    const now = Date.now();
    if (!this.shown || total === 0 || (now - this.drawnAt < PAUSE && done < total)) return;
    this.drawnAt = now;
    const filled = Math.round((WIDTH * done) / total);
    this.#line(`${label} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor((100 * done) / total)}%`);
  }

  /** A step whose length is not known. */
  say(label) {
    if (this.shown) this.#line(`${label} …`);
  }

  end() {
    if (this.drawn) this.stream.write('\r\x1b[K');
    this.drawn = false;
  }

  #line(text) {
    this.stream.write(`\r\x1b[K${text}`);
    this.drawn = true;
  }
}

module.exports = { Progress };
