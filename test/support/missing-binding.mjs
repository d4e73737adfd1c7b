// Takes the internal binding of streams away, as another version of Node may: `NODE_OPTIONS=--import=…`.
const binding = process.binding;
process.binding = (name) => (name === 'stream_wrap' ? {} : binding.call(process, name));
