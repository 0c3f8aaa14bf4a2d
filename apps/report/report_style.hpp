#pragma once

namespace quarkstar::app {

/// The report's style sheet. Colours that differ in both schemes; the first six also to colour-blind readers (after
/// Okabe and Ito).
inline constexpr char report_style[] = R"(
:root { color-scheme: light dark; --bg: #fff; --fg: #1b1f24; --soft: #59636e; --line: #d5dae0; --card: #f6f8fa;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b0518d; --c4: #b07d00; --c5: #3d9fd3;
  --c6: #7a8490; --c7: #8a5a2b; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e4e8ec; --soft: #9aa5b1; --line: #333a42; --card: #1c2127;
  --c0: #56b4e9; --c1: #f0894a; --c2: #2fc79a; --c3: #dd8ac0; --c4: #e6b84a; --c5: #8aa8ff;
  --c6: #8e99a6; --c7: #c99a6b; } }
body { background: var(--bg); color: var(--fg); font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
p.sub { color: var(--soft); margin: 0; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(480px, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; padding: .8rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
figure.wide { grid-column: 1 / -1; overflow-x: auto; } figure.wide svg { min-width: 760px; }
figcaption { font-weight: 600; margin-bottom: .4rem; }
svg { width: 100%; height: auto; display: block; }
svg .grid { stroke: var(--line); } svg .axis { stroke: var(--soft); fill: none; }
svg text { fill: var(--soft); font-size: 12px; } svg text.label { font-size: 13px; }
svg g path { fill: none; stroke: currentColor; stroke-width: 1.6; } svg g circle { fill: currentColor; }
.s0 { color: var(--c0); } .s1 { color: var(--c1); } .s2 { color: var(--c2); }
.s3 { color: var(--c3); } .s4 { color: var(--c4); } .s5 { color: var(--c5); }
.t0 { fill: var(--c0); color: var(--c0); } .t1 { fill: var(--c1); color: var(--c1); } .t2 { fill: var(--c2); color: var(--c2); }
.t3 { fill: var(--c3); color: var(--c3); } .t4 { fill: var(--c4); color: var(--c4); } .t5 { fill: var(--c5); color: var(--c5); }
.t6 { fill: var(--c6); color: var(--c6); } .t7 { fill: var(--c7); color: var(--c7); }
svg g.dashed path { stroke-dasharray: 5 3; } svg g path.bar { stroke-width: 1.2; stroke-dasharray: none; } svg rect { stroke: var(--card); stroke-width: .5; }
.legend { margin: .4rem 0 0; font-size: 13px; } .legend span { display: inline-block; margin-right: 1.1rem; white-space: nowrap; }
.legend i { display: inline-block; width: 1.6em; border-top: 3px solid; vertical-align: middle; margin-right: .4em; }
.legend .dashed i { border-top-style: dashed; } .blocks i { width: .8em; border-top-width: .8em; border-radius: 2px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { text-align: right; padding: .2rem .45rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
table.facts td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
)";

}  // namespace quarkstar::app
