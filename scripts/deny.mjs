// `npm run deny`: licences, sources and duplicates of the crates, as deny.toml wants them.

import { installCrate, run } from './release-tools.mjs';

installCrate('cargo-deny');
run('cargo-deny', ['check', 'bans', 'licenses', 'sources']);
