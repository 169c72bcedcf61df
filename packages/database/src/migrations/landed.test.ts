/** A migration that has landed never changes: databases were made with it. What it lacks is done by a new one. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MIGRATIONS } from './index.ts'

/** The beginning of each file's SHA-256. A line is added and never changed (CONTRIBUTING.md, "Add a migration"). */
const LANDED: Readonly<Record<string, string>> = {
  '0001-directory.ts': 'b2b5289eb97ffb3a6cb706d1c13f37d0',
  '0002-import-progress.ts': '9d60ae6207ae4578f3cda8e6b54dcf18',
  '0003-keys.ts': 'e5c5dd6e9be284e794abcfc185aab862',
  '0004-message-memory.ts': 'd0090546889f5159eaeff40efa2d89e2',
  '0005-quotas.ts': '928c613bf5a874519da156f6ebc00764',
  '0006-seal-policies.ts': '13397e1835c514124bc3b7fc49560cc2',
  '0007-registry-attributes.ts': '3f3dac2ba34e482eee6888cf000c4f4a',
  '0008-record-tombstones.ts': '82c4a02184052ebabcbc9fcb2ee0231c',
  '0009-slow-searches.ts': '7dc2eab95b525c5fa6e8a0e54239c326',
  '0010-asynchronous-exchanges.ts': '62d3a6e2b40403bd98c5c8aec627a367',
  '0011-inbox.ts': 'a0e334de8fc07e07b776dd2b12f7867d',
  '0012-drain-job.ts': '82da2a89479389f9298934165bfb8165',
  '0013-accepted-days.ts': 'cd86f88523d19912bcf9012fc2537d75',
  '0014-request-bytes.ts': '10877dde51ece09afe650b03cd0bd152',
  '0015-delivery-destinations.ts': '32104e656ccdde6b1d056f4ae1603474',
  '0016-exchange-references.ts': '4be9a1292069a859cf2514dd4ad4d7f0',
  '0017-reading-rules.ts': '532d2134016d9f27a6f26651ef7a5462',
  '0018-exchange-claims.ts': 'c769f99ec37f0168a08b0553e37cef9d',
  '0019-events.ts': '17c8efd9a867cda26afb166407d51a83',
  '0020-merged-records.ts': 'f8ff3c307e7ccd1538dea6e79d77de10',
  '0022-notification-references.ts': 'e363b201ac1a9fba43d4cafcc7fa8ccc',
  '0023-enrolment.ts': '08d6ba84e9c4375e774a554f137bebe8',
  '0024-grants.ts': 'acd3d2af6799b56b42a5d41388689a51',
  '0025-accounts.ts': '7fcc7ecff0a2ea972e354e899b895d79',
  '0026-retention.ts': '3ffbc273768cc8e847a770c13323dfe9',
  '0027-protected-persons.ts': '4f849cdd4a8e7daf0bf6b3b16f6f79c2',
  '0028-consents.ts': 'c8312fe128e608c61b2c357f8ce8645b',
  '0029-waiting-notifications.ts': 'dca46828dee6b4de140bb0d31da2cfc3',
  '0030-account-reviews.ts': 'c465a5475a6dbef65b641c6648635941',
  '0031-protection-of-retired.ts': '8b5664330a21fbaec965a0b879c52a17',
  '0032-environments.ts': '0e7bc8a8f328f9cfdea949ebcc864ed5',
  '0034-identifier-types.ts': '3fbf023334cc4e583ef3f3d0ca4c7c98',
  '0035-restorations.ts': '940a9c607b4f79f8aa57be69b13982c4',
  '0036-schema-versions.ts': '121e5fc7b133b0b22f80865ab5433216',
  '0037-account-evidence.ts': '88b78a28ab47d45135c72f8fe66c8f62',
  '0038-recalled-envelopes.ts': 'c3432ba255c6c930f1cbc99228b90cc3',
  '0039-web-origins.ts': '4c49e0bcf70805c9d74e1a6f84339195',
  '0040-open-journal-lines.ts': '916ac62740366ebc2dba2e390aef3275',
  '0041-former-participants.ts': 'cc67dfc24bc2e5a140a5d9677e1f43bf',
  '0042-account-times.ts': 'c412c65264e2cfcf4998f3687e1f9192',
  '0043-journal-incarnations.ts': 'd23dac851f6dc10f15a9175313beda8a',
  '0044-operator-sessions.ts': 'c14a1057d3d9455b4ed60463e1e5b602',
  '0045-dead-letters.ts': 'f171c77ac71a203f6e9b0a3b608d0092',
  '0046-delivery-lists.ts': '8d8e8b86ba88fc9e5e4e44cb26a1cf6b',
  '0048-proposals.ts': '2a19ba05d15994454c777cd448c47fb5',
  '0049-partner-sessions.ts': 'd11d71b4b9bbfa6be2d89a335b63a8f0',
  '0050-provided-registries.ts': '3dcac14bc9652d119770240592f0ba50',
  '0054-record-versions.ts': '447cd9d1bac6851db56c26419e588813',
  '0055-registry-spellings.ts': '285d92af70aa3b1ef3543d6dd0d11a38',
  '0056-import-runs.ts': '09164872fae1ef67f0cb09284ac9fbe7',
  '0057-reference-keys.ts': '89bb1d856e8db39fed68a8f7594f64a4',
  '0058-journal-reports.ts': 'b63673256414603927778e163ed541f7',
  '0059-sessions.ts': '3ff10f1954b29afb51b6e59587e0fe70',
  '0060-packed-accounts.ts': '3bffd34f889426e8978cd516bb20b5e8',
  '0061-record-keys.ts': '0a3d64ab9aa8abf682398b2380de35ff',
  '0062-registry-records.ts': 'c40a77ec0520817f5b0283e653867a57',
  '0063-registry-sources.ts': '4311133a1071152cb5dc27c6254f10a9',
  '0064-source-mirrors.ts': '64309ff58748a47bdabe759c01915a84',
  '0065-source-changes.ts': '13a343790229e065480f8d909dec28a1',
  '0066-room-for-updates.ts': '5e413186d4417c3dd67695a144b41642',
}

const files = readdirSync(new URL('.', import.meta.url)).filter((name) => /^[0-9]{4}-(?!.*\.test\.).*\.ts$/.test(name))

test.each(Object.entries(LANDED))('%s is as it landed', (name, digest) => {
  const content = readFileSync(new URL(name, import.meta.url))
  expect(createHash('sha256').update(content).digest('hex').slice(0, digest.length)).toBe(digest)
})

test('every file is a migration, and at most the newest one has not landed', () => {
  expect(Object.keys(MIGRATIONS).map((name) => `${name}.ts`)).toEqual([...files].sort())
  expect(files.filter((name) => !Object.hasOwn(LANDED, name)).length).toBeLessThanOrEqual(1)
})
