/** What went over the wire, counted in tokens where no vendor says it: 4 characters, 100 ms heard or 50 ms said each. */
import { isObject, type JsonValue, noUsage, type Usage } from '../../../engine/plugin.ts';

const charactersPerToken = 4;
const heardPerSecond = 10;
const saidPerSecond = 20;
/** 24 kHz, 16 bits: what a session has that says nothing else. */
const pcm = 48_000;
const bytesPerSecond: Readonly<Record<string, number>> = {
  'audio/pcm': pcm,
  'audio/pcmu': 8_000,
  'audio/pcma': 8_000,
  pcm16: pcm,
  g711_ulaw: 8_000,
  g711_alaw: 8_000,
};

/** Characters of base64 to bytes. */
const decoded = (length: number) => length * 0.75;

export class Estimate {
  private text = 0;
  private sound = 0;
  private askedText = 0;
  private askedSound = 0;
  private heardRate = pcm;
  private saidRate = pcm;

  /** Characters of text, of base64. */
  said(text: number, sound: number): void {
    this.text += text;
    this.sound += sound;
  }

  asked(text: number, sound: number): void {
    this.askedText += text;
    this.askedSound += sound;
  }

  /** `session` as `session.created` and `session.updated` show it, the beta's too. */
  formats(session: JsonValue | undefined): void {
    if (!isObject(session)) return;
    const audio = isObject(session.audio) ? session.audio : {};
    this.heardRate = rateOf(isObject(audio.input) ? audio.input.format : session.input_audio_format) ?? this.heardRate;
    this.saidRate = rateOf(isObject(audio.output) ? audio.output.format : session.output_audio_format) ?? this.saidRate;
  }

  /** Null where nothing was said: then nothing is owed for what was asked either. */
  usage(): Usage | null {
    if (this.text + this.sound === 0) return null;
    const audioInput = Math.ceil((decoded(this.askedSound) / this.heardRate) * heardPerSecond);
    const audioOutput = Math.ceil((decoded(this.sound) / this.saidRate) * saidPerSecond);
    return {
      ...noUsage,
      input: audioInput + Math.ceil(this.askedText / charactersPerToken),
      audioInput,
      output: audioOutput + Math.ceil(this.text / charactersPerToken),
      audioOutput,
      source: 'estimated',
    };
  }

  reset(): void {
    this.text = this.sound = this.askedText = this.askedSound = 0;
  }
}

function rateOf(format: JsonValue | undefined): number | undefined {
  const name = isObject(format) ? format.type : format;
  return typeof name === 'string' && Object.hasOwn(bytesPerSecond, name) ? bytesPerSecond[name] : undefined;
}
