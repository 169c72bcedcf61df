/** For `node --import`: at the end of a process standard error has the address of each module that it loaded, a line each. */
import { registerHooks } from 'node:module'

const loaded = new Set<string>()
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url)
    return nextLoad(url, context)
  },
})
process.on('exit', () => process.stderr.write([...loaded].join('\n')))
