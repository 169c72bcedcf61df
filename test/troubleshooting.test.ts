import { expect, it } from 'vitest'
import { troubleshootingPage } from '../docs/.vitepress/troubleshooting.ts'

/** `npx vitest run test/troubleshooting.test.ts -u` writes the page anew. */
it('docs/troubleshooting.md says what the table of codes, its triggers and the advice say', async () => {
  const page = troubleshootingPage()
  expect(page).not.toContain('undefined')
  await expect(page).toMatchFileSnapshot('../docs/troubleshooting.md')
})
