// The one place that names the package. In the mail service this line is `require('sealite')`.
// SEALITE_TEST_MODULE, the path of another module with the same interface, lets the same flow run on it.

'use strict';

const path = require('node:path');

module.exports = require(process.env.SEALITE_TEST_MODULE || path.join(__dirname, '..', '..'));
