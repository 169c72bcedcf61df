import type { Theme } from 'vitepress'
import theme, { VPHomeFeatures, VPHomeHero } from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

/** The start page: the theme's own parts, as the main landmark that its layout lacks. */
const start = () => h('main', { class: 'start' }, [h(VPHomeHero), h(VPHomeFeatures)])

export default {
  extends: theme,
  enhanceApp({ app }) {
    app.component('start', start)
  },
} satisfies Theme
