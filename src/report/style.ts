/** How the page looks: light and dark as the reader's system is, and on paper with all steps open. */
export const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 15%, Canvas); --dim: color-mix(in srgb, CanvasText 65%, Canvas); --faint: color-mix(in srgb, CanvasText 5%, Canvas);
  --turn: #5b7fd6; --tool: #3f9a72; --step: #8a8a8a; --agent: #a46ac0; --wait: #d09a2e; --bad: light-dark(#b3261e, #ff8a80); --good: light-dark(#1e6b3a, #7fd69c); }
* { box-sizing: border-box; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 84rem; padding: 1.5rem; background: Canvas; color: CanvasText; }
h1, h2, h3, small, dd, li, .name { unicode-bidi: isolate; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; border-top: 1px solid var(--line); padding-top: 1rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
small { color: var(--dim); font-weight: normal; } p { margin: .25rem 0; } a { margin-right: .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; } dt { color: var(--dim); } dd { margin: 0; white-space: pre-wrap; }
ul { margin: .25rem 0; padding-left: 1.25rem; } nav ul { list-style: none; padding: 0; margin: 0; }
.status { font-size: .85rem; font-weight: normal; padding: 0 .5em; border: 1px solid; border-radius: 1em; white-space: nowrap; justify-self: start; }
.status.completed { color: var(--good); } .status.failed, .status.terminated, .status.timed-out { color: var(--bad); }
.row { display: grid; grid-template-columns: 3rem 4.5rem minmax(8rem, 1.1fr) minmax(6rem, 1.2fr) 4.5rem 4.5rem; gap: .5rem; align-items: center; padding: .25rem; }
.run { display: grid; grid-template-columns: minmax(12rem, 1fr) 7rem minmax(6rem, 1.4fr) 5rem 6rem; gap: .5rem; align-items: center; padding: .25rem; }
.run.unread { grid-template-columns: 1fr; } .indent { display: inline-block; } nav .marks .track { margin-left: .25rem; }
.marks { position: sticky; top: 0; z-index: 1; background: Canvas; color: var(--dim); font-size: .8rem; border-bottom: 1px solid var(--line); } .marks .track { grid-column: 4; height: 1.2rem; background: none; }
.marks .track span { position: absolute; padding-left: .2rem; border-left: 1px solid var(--line); white-space: nowrap; }
nav .marks { grid-template-columns: minmax(12rem, 1fr) 7rem minmax(6rem, 1.4fr) 5rem 6rem; position: static; } nav .marks .track { grid-column: 3; margin: 0; }
details, .gap.row { border-bottom: 1px solid var(--line); } details { content-visibility: auto; contain-intrinsic-size: auto 2.1rem; }
summary { cursor: pointer; list-style: none; } summary::-webkit-details-marker { display: none; } summary:hover { background: var(--faint); }
:focus-visible { outline: 2px solid Highlight; outline-offset: -2px; } :target { background: color-mix(in srgb, Highlight 15%, Canvas); } section:target { background: none; }
.no, .ms, .usd { text-align: right; color: var(--dim); font-variant-numeric: tabular-nums; }
.name { overflow: hidden; } details:not([open]) .line { display: block; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; } .name em { display: block; font-size: .85em; color: var(--dim); } .gap .name { color: var(--dim); }
.track { position: relative; height: .8rem; background: linear-gradient(to right, var(--line) 1px, transparent 1px) 0 0 / var(--mark, 100%) 100%, var(--faint); }
.track i { position: absolute; top: 0; bottom: 0; } .legend i { display: inline-block; width: 1.5rem; height: .7rem; margin-right: .35rem; vertical-align: baseline; } .legend { color: var(--dim); font-size: .85rem; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-top: 1rem; }
i { --is: var(--step); background: var(--is); } i.turn { --is: var(--turn); } i.tool { --is: var(--tool); } i.agent { --is: var(--agent); } i.wait { --is: var(--wait); }
i.wait { background: repeating-linear-gradient(135deg, var(--is) 0 2px, color-mix(in srgb, var(--is) 25%, Canvas) 2px 6px); outline: 1px solid var(--is); outline-offset: -1px; }
i.open { border-right: 3px dotted var(--is); background: linear-gradient(to right, var(--is), color-mix(in srgb, var(--is) 35%, transparent)); } i.wait.open { background: repeating-linear-gradient(135deg, var(--is) 0 2px, transparent 2px 6px); }
i.gap { background: none; border-top: 1px dashed var(--dim); top: 50%; } .legend i.gap { vertical-align: middle; height: 0; }
.failed > summary .name { color: var(--bad); }
details > dl { margin: .25rem 0 .75rem 8.5rem; }
@media (max-width: 50rem) { .row { grid-template-columns: 2rem 4rem 1fr 4rem; } .row .track { grid-column: 1 / -1; grid-row: 2; } .row .usd { display: none; } .run { grid-template-columns: 1fr 7rem 4rem; } .run .track, .run .usd, nav .marks { display: none; } details > dl { margin-left: 1rem; } }
@media print { details { content-visibility: visible; break-inside: avoid; } details::details-content { content-visibility: visible; block-size: auto; } body { max-width: none; padding: 0; font-size: 9pt; } .marks { position: static; } i { print-color-adjust: exact; } }
`;
