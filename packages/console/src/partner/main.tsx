import '../theme/nonce.ts'
import '../theme/styles.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { PartnerApp } from './app.tsx'
import { takeSignInCode } from './code.ts'

const root = document.getElementById('root')
if (root === null) throw new Error('the page has no root')
createRoot(root).render(
  <StrictMode>
    <PartnerApp code={takeSignInCode()} />
  </StrictMode>,
)
