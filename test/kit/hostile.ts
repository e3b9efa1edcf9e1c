/** Text that would be more than text, if whoever shows it let it. */

/** Each on a line of its own in `HOSTILE`. */
export const HOSTILE_PARTS = {
  script: '<script>document.title = "taken"; alert(1)</script>',
  image: '<img src="http://127.0.0.1:9/image.png" onerror="alert(2)">',
  end: '</code></pre></style></title></textarea><h1>headline</h1>',
  style: '<style>* { display: none } body { background: url(http://127.0.0.1:9/style.png) }</style>',
  frame: '<iframe src="javascript:alert(3)"></iframe><svg onload="alert(4)">',
  form: '<form action="http://127.0.0.1:9/"><input autofocus onfocus="alert(5)"></form>',
  meta: '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/"><base href="http://127.0.0.1:9/">',
  markdown: '[click](javascript:alert(6)) ![pixel](http://127.0.0.1:9/pixel.png) <http://127.0.0.1:9/>',
  quotes: `" onmouseover="alert(7)" ' onclick='alert(8)' \` &lt;b&gt; &#x3c;b>`,
  ansi: '\u001b[2J\u001b[31mred\u001b]0;title\u0007\u001b]8;;http://127.0.0.1:9/\u0007link\u009b2K\r\b\b',
  direction: '\u202etxt.exe\u2066\u200f\u061c',
  nothing: 'a\u0000b\ud800c\udfffd\ufffe',
};

export const HOSTILE = Object.values(HOSTILE_PARTS).join('\n');

/** What has an effect in a terminal or on the reading direction, but for line ends. */
export const EFFECTS = /(?!\n)\p{Cc}|\p{Cs}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
