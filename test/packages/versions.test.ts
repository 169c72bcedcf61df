import { describe, expect, it } from 'vitest'
import { lockWithVersion, ReleaseRefused, releasedChangelog, withVersion } from '../../build/versions.ts'

const CHANGELOG = `# Changelog

## Unreleased

### Added

- A thing.

## 0.2.0 - 2026-01-02

- The first thing.
`

describe('the changelog of a release', () => {
  it('has the version in place of Unreleased, which is empty again', () => {
    expect(releasedChangelog(CHANGELOG, '0.3.0', '2026-02-03')).toEqual({
      section: '### Added\n\n- A thing.',
      text: `# Changelog

## Unreleased

## 0.3.0 - 2026-02-03

### Added

- A thing.

## 0.2.0 - 2026-01-02

- The first thing.
`,
    })
  })

  it('may be the first one', () => {
    const first = releasedChangelog('# Changelog\n\n## Unreleased\n\n- A thing.\n', '0.1.0', '2026-02-03')
    expect(first.text).toBe('# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-02-03\n\n- A thing.\n')
  })

  it.each([
    ['0.2.0', CHANGELOG, 'CHANGELOG.md has version 0.2.0 already. Name a later one: npm run release -- 1.2.0'],
    ['0.1.9', CHANGELOG, 'CHANGELOG.md has version 0.2.0, which is later than 0.1.9'],
    ['v1', CHANGELOG, 'v1 is not a version such as 1.2.0'],
    ['0.3.0', '# Changelog\n', 'CHANGELOG.md has no heading "## Unreleased"'],
    [
      '0.3.0',
      CHANGELOG.replace('### Added\n\n- A thing.\n', ''),
      'CHANGELOG.md has nothing under "## Unreleased": there is nothing to release',
    ],
  ])('refuses %s: %#', (version, text, message) => {
    expect(() => releasedChangelog(text, version, '2026-02-03')).toThrow(new ReleaseRefused(message))
  })
})

describe('a version', () => {
  const manifest = { name: 'rollcall', version: '0.1.0', dependencies: { '@rollcall/client': '0.1.0', yaml: '^2.9.1' } }

  it('is that of the package and of our packages that it needs', () => {
    expect(withVersion(manifest, '0.3.0')).toEqual({
      ...manifest,
      version: '0.3.0',
      dependencies: { '@rollcall/client': '0.3.0', yaml: '^2.9.1' },
    })
  })

  it('stands in the lock file for our packages, and for no other', () => {
    const other = { name: 'yaml', version: '2.9.1' }
    const lock = { version: '0.1.0', packages: { 'packages/cli': manifest, 'node_modules/yaml': other } }
    expect(lockWithVersion(lock, '0.3.0')).toEqual({
      version: '0.3.0',
      packages: { 'packages/cli': withVersion(manifest, '0.3.0'), 'node_modules/yaml': other },
    })
  })
})
