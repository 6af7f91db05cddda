// A bar while the benchmark runs. Twenty lines of our own: it is redrawn between child processes, never
// during one, so what the packages for this offer (timers, several bars, streams) would only disturb.

const WIDTH = 30;

export function startProgress(total, out = process.stderr) {
  let done = 0;
  const start = performance.now();
  return {
    next(label) {
      if (out.isTTY) out.write(`\r\u001b[K${bar(done, total)} ${left(start, done, total)}  ${label}`);
      else if (done % 10 === 0) out.write(`${done}/${total} ${label}\n`);
      done += 1;
    },
    end() {
      if (out.isTTY) out.write('\r\u001b[K');
    },
  };
}

function bar(done, total) {
  const full = Math.floor((done / total) * WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done}/${total}`;
}

/** Time left, from the mean so far; nothing is known before the first trial has ended. */
function left(start, done, total) {
  if (done === 0) return '';
  const seconds = Math.round(((performance.now() - start) / done) * (total - done) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}
