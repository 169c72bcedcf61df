import { expect, it } from 'vitest'
import { KINDS } from '../src/kinds/index.ts'
import { sampleRecord } from '../src/openapi/sample-record.ts'
import { kindMarkdown } from '../src/openapi/tables.ts'

/** `npx vitest run packages/protocol/test/kind-pages.test.ts -u` writes the pages anew. */
it.each(KINDS)('docs/kinds/$name.md says what the literal says', async (kind) => {
  const records = kind.record_types.map(
    (recordType) => `\`\`\`json\n${JSON.stringify(sampleRecord(kind, recordType), null, 2)}\n\`\`\``,
  )
  const page = [
    `# ${kind.title} (\`${kind.name}\`)`,
    `Made from \`packages/protocol/src/kinds/${kind.name}.ts\`.`,
    kindMarkdown(kind),
    '## Example records',
    ...records,
    '',
  ].join('\n\n')
  await expect(page).toMatchFileSnapshot(`../../../docs/kinds/${kind.name}.md`)
})
