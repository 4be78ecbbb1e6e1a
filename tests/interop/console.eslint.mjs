// What the console's modules may not do. What came from outside is text: nothing is ever parsed as markup or code.

const MARKUP = ["innerHTML", "outerHTML", "srcdoc", "insertAdjacentHTML", "setHTML", "setHTMLUnsafe", "write", "writeln"];
const outside = MARKUP.map((property) => ({ property, message: "text goes in by app/dom.js, as text" }));

export default [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-restricted-properties": ["error", ...outside],
      "no-restricted-syntax": [
        "error",
        { selector: "Literal[value=/^javascript:/i]", message: "no code in addresses" },
        { selector: "NewExpression[callee.name='DOMParser']", message: "nothing is parsed as markup" },
        {
          selector: "TemplateLiteral CallExpression[callee.name=/^(short|h|svg)$/]",
          message: "an element is no part of a text: visible() gives the text",
        },
        { selector: "CallExpression[callee.property.name='createContextualFragment']", message: "nothing is parsed as markup" },
      ],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-unused-vars": "error",
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      "no-constant-binary-expression": "error",
      "no-self-compare": "error",
      "no-template-curly-in-string": "error",
      "no-unreachable": "error",
      "no-fallthrough": "error",
      "no-dupe-keys": "error",
      "no-loss-of-precision": "error",
      "max-lines": ["error", 300],
    },
  },
];
