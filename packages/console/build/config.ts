/** How Vite builds the pages: in parts that change at different times, and with nothing inline. */
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import type { InlineConfig } from 'vite'
import { NONCE_PLACEHOLDER } from '../src/index.ts'
import { helpPlugin } from './help.ts'

/** Libraries that get files of their own: they change only when they are upgraded, and pages change often. */
const LIBRARIES = [
  { name: 'react', test: /node_modules[\\/](?:react|react-dom|scheduler)[\\/]/, priority: 2 },
  { name: 'parts', test: /node_modules[\\/]@(?:mantine|floating-ui)[\\/]/, priority: 1 },
]

/** The settings that the console and the partner page share. */
const PAGES = {
  configFile: false,
  root: fileURLToPath(new URL('..', import.meta.url)),
  // The server replaces this placeholder by the nonce of each response.
  html: { cspNonce: NONCE_PLACEHOLDER },
  build: {
    // The first versions of browsers that know light-dark() of CSS.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // The policy allows no `data:` for scripts, styles and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: LIBRARIES } } },
  },
} satisfies InlineConfig

/** How Vite builds the console. */
export const CONSOLE: InlineConfig = { ...PAGES, plugins: [react(), helpPlugin()] }

/** How Vite builds the partner page: from the same parts, for another listener and a path of its own. */
export const PARTNER: InlineConfig = {
  ...PAGES,
  base: '/partner/',
  plugins: [react()],
  build: {
    ...PAGES.build,
    outDir: 'dist/partner',
    rolldownOptions: { ...PAGES.build.rolldownOptions, input: fileURLToPath(new URL('../partner.html', import.meta.url)) },
  },
}
